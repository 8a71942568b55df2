#include "oracle/q8_act/q8_act.h"

#include <planegate/formats/q8_act/contracts.h>

#include "oracle/half.h"
#include "oracle/lattice_draw.h"
#include "oracle/parallel.h"
#include "oracle/preconditions.h"
#include "oracle/q8_act/extremes.h"
#include "oracle/q8_act/mirror.h"
#include "oracle/q8_act/quantise.h"

namespace planegate::oracle::q8_act {
namespace {

using planegate::q8_act::kChunkBytes;
using planegate::q8_act::kChunkElems;
using planegate::q8_act::kFormat;

constexpr uint64_t kLatticeStream = fnv1a("q8_0");

void dequantise(const RawTensor& raw, int64_t line, int64_t k, std::span<double> values) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_elements(line, raw.shape.nt(), raw.shape.id(), k, kChunkElems, values);
  const int64_t chunks = raw.shape.id() / kChunkElems;
  const std::byte* from = raw.bytes.data() + (line * chunks + k / kChunkElems) * kChunkBytes;
  double* value = values.data();
  for (const double* const end = value + values.size(); value != end;) {
    const double d = f16_to_f64(load_f16(from));
    from += sizeof(uint16_t);
    for (int64_t e = 0; e < kChunkElems; ++e) *value++ = d * static_cast<int8_t>(*from++);
  }
}

std::optional<NonFiniteScale> first_non_finite(const RawTensor& raw) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  const int64_t chunks = raw.shape.id() / kChunkElems;
  const std::byte* from = raw.bytes.data();
  for (int64_t token = 0; token < raw.shape.nt(); ++token) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const uint16_t d_bits = load_f16(from);
      if (!f16_is_finite(d_bits)) return NonFiniteScale{token, chunk, d_bits};
      from += kChunkBytes;
    }
  }
  return std::nullopt;
}

void lattice(const Shape& shape, uint64_t seed, const LatticeRanges& ranges,
             std::span<std::byte> bytes) {
  const LatticeDraw draw(seed, kLatticeStream, ranges);
  const int64_t chunks = shape.id() / kChunkElems;
  require(std::ssize(bytes) == size_bytes(shape), "bytes", std::ssize(bytes),
          "not the size of the tensor");
  for_ranges(shape.nt(), grain_of(shape.nt(), shape.id()), [&](int64_t token, int64_t end) {
    std::byte* to = bytes.data() + token * (chunks * kChunkBytes);
    std::array<int8_t, kChunkElems> codes;
    for (; token < end; ++token) {
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        store_f16(draw.float_scale(token, chunk), to);
        to += sizeof(uint16_t);
        draw.codes(token, chunk * kChunkElems, -128, 127, codes);
        std::memcpy(to, codes.data(), codes.size());
        to += codes.size();
      }
    }
  });
}

std::optional<double> combine(const FieldBits& bits) {
  const auto codes = bits.find("codes");
  const auto d = bits.find("d");
  if (codes == bits.end() || d == bits.end()) return std::nullopt;
  return f16_to_f64(static_cast<uint16_t>(d->second)) * static_cast<int8_t>(codes->second);
}

std::vector<std::byte> one_hot(const Shape& shape, std::span<const int64_t> k_of_token) {
  require(static_cast<int64_t>(k_of_token.size()) == shape.nt(), "k_of_token.size()",
          static_cast<long long>(k_of_token.size()), "not the number of tokens");
  const int64_t chunks = shape.id() / kChunkElems;
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(shape)));
  std::byte* to = bytes.data();
  for (const int64_t k : k_of_token) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      store_f16(f64_to_f16(1.0), to);
      to += sizeof(uint16_t);
      for (int64_t e = 0; e < kChunkElems; ++e) {
        *to++ = std::byte{static_cast<uint8_t>(chunk * kChunkElems + e == k)};
      }
    }
  }
  return bytes;
}

}  // namespace

void register_oracle(Catalog& catalog) {
  catalog.add(FormatOracle{kFormat,
                           Role::kActivations,
                           size_bytes,
                           dequantise,
                           lattice,
                           first_non_finite,
                           {},
                           quantise,
                           kChunkElems,
                           combine,
                           one_hot,
                           extremes()});
  catalog.add(MirrorSpec{kFormat, &describe<planegate::q8_act::Qa8>(), mirror_qa8});
  catalog.add(MirrorSpec{kFormat, &describe<planegate::q8_act::Sda>(), mirror_sda});
  catalog.add(MirrorSpec{kFormat, &describe<planegate::q8_act::Pad40>(), mirror_pad40});
}

}  // namespace planegate::oracle::q8_act
