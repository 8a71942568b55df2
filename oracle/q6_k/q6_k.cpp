#include "oracle/q6_k/q6_k.h"

#include <bit>

#include <planegate/formats/q6_k/contracts.h>

#include "oracle/half.h"
#include "oracle/lattice_draw.h"
#include "oracle/parallel.h"
#include "oracle/preconditions.h"
#include "oracle/q6_k/block.h"
#include "oracle/q6_k/extremes.h"
#include "oracle/q6_k/mirror.h"

namespace planegate::oracle::q6_k {
namespace {

using planegate::q6_k::kBlockBytes;
using planegate::q6_k::kCentre;
using planegate::q6_k::kFormat;
using planegate::q6_k::kSubBlockElems;

constexpr uint64_t kLatticeStream = fnv1a("q6_K");
constexpr uint64_t kSampleStream = fnv1a("q6_K sample");

void dequantise(const RawTensor& raw, int64_t line, int64_t k, std::span<double> values) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_elements(line, raw.shape.od(), raw.shape.id(), k, kBlockElems, values);
  const std::byte* from =
      raw.bytes.data() + (line * raw.shape.nsb() + k / kBlockElems) * kBlockBytes;
  double* value = values.data();
  for (const double* const end = value + values.size(); value != end;) {
    const Block block = decode(from);
    from += kBlockBytes;
    const double d = f16_to_f64(block.d_bits);
    const uint8_t* code = block.codes.data();
    for (const int8_t sc : block.sc) {
      const double scale = d * sc;
      for (int64_t e = 0; e < kSubBlockElems; ++e) *value++ = scale * (*code++ - kCentre);
    }
  }
}

Block draw_block(const LatticeDraw& draw, int64_t row, int64_t sb) {
  Block block;
  std::array<int8_t, kBlockElems> codes;
  draw.codes(row, sb * kBlockElems, -kCentre, kCentre - 1, codes);
  std::transform(codes.begin(), codes.end(), block.codes.begin(),
                 [](int8_t code) { return static_cast<uint8_t>(code + kCentre); });
  int64_t sub = sb * kSubBlocks;
  for (int8_t& sc : block.sc) sc = draw.integer_scale(row, sub++);
  block.d_bits = draw.float_scale(row, sb);
  return block;
}

/// Every block of the tensor, `block(row, sb)` encoded.
template <class MakeBlock>
void encode_all(const Shape& shape, std::span<std::byte> bytes, MakeBlock make_block) {
  require(static_cast<int64_t>(bytes.size()) == size_bytes(shape), "bytes",
          static_cast<long long>(bytes.size()), "not the size of the tensor");
  const int64_t nsb = shape.nsb();
  for_ranges(shape.od(), grain_of(shape.od(), shape.id()), [&](int64_t row, int64_t end) {
    std::byte* to = bytes.data() + row * (nsb * kBlockBytes);
    for (; row < end; ++row) {
      for (int64_t sb = 0; sb < nsb; ++sb) {
        encode(make_block(row, sb), to);
        to += kBlockBytes;
      }
    }
  });
}

void lattice(const Shape& shape, uint64_t seed, const LatticeRanges& ranges,
             std::span<std::byte> bytes) {
  const LatticeDraw draw(seed, kLatticeStream, ranges);
  encode_all(shape, bytes, [&](int64_t row, int64_t sb) { return draw_block(draw, row, sb); });
}

/// Codes and sub-scales over their whole ranges; d of either sign with a full fraction,
/// magnitude 2^-12 to 2^-8.
void sample(const Shape& shape, uint64_t seed, std::span<std::byte> bytes) {
  const LatticeDraw draw(seed, kSampleStream, {kCentre, 128, false, 0});
  encode_all(shape, bytes, [&](int64_t row, int64_t sb) {
    Block block = draw_block(draw, row, sb);
    const uint64_t drawn = payload(mix(seed) ^ kSampleStream, static_cast<uint64_t>(row),
                                   static_cast<uint64_t>(sb), fnv1a("d"));
    const uint64_t exponent = 15 - 12 + (drawn >> 16) % 4;
    block.d_bits = static_cast<uint16_t>((drawn & 0x83FF) | exponent << 10);
    return block;
  });
}

/// From ql and qh or codes, with sc and d or dsc.
std::optional<double> combine(const FieldBits& bits) {
  const auto find = [&](const char* name) -> std::optional<uint32_t> {
    const auto found = bits.find(name);
    return found == bits.end() ? std::nullopt : std::optional(found->second);
  };
  std::optional<double> code, scale;
  if (const auto codes = find("codes")) code = static_cast<int8_t>(*codes);
  if (const auto low = find("ql"), high = find("qh"); low && high) {
    code = static_cast<double>(*low | *high << 4) - kCentre;
  }
  if (const auto dsc = find("dsc")) scale = std::bit_cast<float>(*dsc);
  if (const auto sc = find("sc"), d = find("d"); sc && d) {
    scale = f16_to_f64(static_cast<uint16_t>(*d)) * static_cast<int8_t>(*sc);
  }
  return code && scale ? std::optional(*code * *scale) : std::nullopt;
}

std::vector<std::byte> one_hot(const Shape& shape, std::span<const int64_t> k_of_row) {
  require(static_cast<int64_t>(k_of_row.size()) == shape.od(), "k_of_row.size()",
          static_cast<long long>(k_of_row.size()), "not the number of rows");
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(shape)));
  encode_all(shape, bytes, [&](int64_t row, int64_t sb) {
    Block block;
    block.codes.fill(kCentre);
    block.sc.fill(1);
    block.d_bits = f64_to_f16(1.0);
    const int64_t k = k_of_row[static_cast<size_t>(row)] - sb * kBlockElems;
    if (k >= 0 && k < kBlockElems) block.codes[static_cast<size_t>(k)] = kCentre + 1;
    return block;
  });
  return bytes;
}

}  // namespace

void register_oracle(Catalog& catalog) {
  catalog.add(FormatOracle{kFormat,
                           Role::kWeights,
                           size_bytes,
                           dequantise,
                           lattice,
                           first_non_finite,
                           sample,
                           {},
                           kSubBlockElems,
                           combine,
                           one_hot,
                           extremes()});
  catalog.add(MirrorSpec{kFormat, &describe<planegate::q6_k::Raw>(), mirror_raw});
  catalog.add(MirrorSpec{kFormat, &describe<planegate::q6_k::Padded>(), mirror_padded});
  catalog.add(MirrorSpec{kFormat, &describe<planegate::q6_k::WExp>(), mirror_w_exp});
  catalog.add(MirrorSpec{kFormat, &describe<planegate::q6_k::WDsc>(), mirror_w_dsc});
}

}  // namespace planegate::oracle::q6_k
