#include "oracle/q6_k/mirror.h"

#include <cstring>

#include <planegate/formats/q6_k/contracts.h>

#include "oracle/half.h"
#include "oracle/parallel.h"
#include "oracle/preconditions.h"
#include "oracle/q6_k/block.h"

namespace planegate::oracle::q6_k {

using planegate::q6_k::kBlockBytes;
using planegate::q6_k::kCentre;
using planegate::q6_k::kFormat;
using planegate::q6_k::kPaddedBlockBytes;

namespace {

constexpr int kChunks = kSubBlocks / 2;  // of a super-block, 32 elements each

std::byte* append(std::byte* to, float value) {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

void require_finite_scales(const RawTensor& raw) {
  const auto fault = first_non_finite(raw);
  if (!fault) return;
  throw ContractError("d[row " + std::to_string(fault->line) + ", super-block " +
                          std::to_string(fault->block) + "]",
                      "f16 bits " + std::to_string(fault->f16_bits), "not finite");
}

/// The chunks of one super-block for rows [row, end): a chunk's line holds one pair a row.
void write_pairs(const RawTensor& raw, int64_t sb, int64_t row, int64_t end, std::byte* lines,
                 int64_t line_bytes) {
  constexpr int64_t kPairBytes = 2 * sizeof(float);
  const int64_t row_bytes = raw.shape.nsb() * kBlockBytes;
  const bool last_rows = end == raw.shape.od();
  std::byte* pairs[kChunks];
  for (std::byte*& pair : pairs) {
    pair = lines + row * kPairBytes;
    lines += line_bytes;
  }
  const std::byte* from = raw.bytes.data() + row * row_bytes + sb * kBlockBytes;
  for (; row < end; ++row) {
    const Scales scales = decode_scales(from);
    from += row_bytes;
    const double d = f16_to_f64(scales.d_bits);
    const int8_t* sc = scales.sc.data();
    for (std::byte*& pair : pairs) {
      pair = append(pair, static_cast<float>(d * *sc++));
      pair = append(pair, static_cast<float>(d * *sc++));
    }
  }
  if (!last_rows || raw.shape.od() % 2 == 0) return;
  for (std::byte* pair : pairs) std::memset(pair, 0, kPairBytes);
}

}  // namespace

int64_t size_bytes(const Shape& shape) {
  return shape.od() * (shape.nsb() * kBlockBytes);
}

std::optional<NonFiniteScale> first_non_finite(const RawTensor& raw) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  const int64_t nsb = raw.shape.nsb();
  const std::byte* block_end = raw.bytes.data();
  for (int64_t row = 0; row < raw.shape.od(); ++row) {
    for (int64_t sb = 0; sb < nsb; ++sb) {
      block_end += kBlockBytes;
      const uint16_t d_bits = load_f16(block_end - sizeof(uint16_t));
      if (!f16_is_finite(d_bits)) return NonFiniteScale{row, sb, d_bits};
    }
  }
  return std::nullopt;
}

void mirror_raw(const RawTensor& raw, std::span<std::byte> plane) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_plane(describe<planegate::q6_k::Raw>(), raw.shape, plane);
  const int64_t nsb = raw.shape.nsb();
  const int64_t row_bytes = nsb * kBlockBytes;
  for_ranges(raw.shape.od(), grain_of(raw.shape.od(), row_bytes), [&](int64_t row, int64_t end) {
    const std::byte* from = raw.bytes.data() + row * row_bytes;
    std::byte* to = plane.data() + row * row_bytes;
    for (; row < end; ++row) {
      for (int64_t sb = 0; sb < nsb; ++sb) {
        std::memcpy(to, from, kBlockBytes);
        from += kBlockBytes;
        to += kBlockBytes;
      }
    }
  });
}

void mirror_padded(const RawTensor& raw, std::span<std::byte> plane) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_plane(describe<planegate::q6_k::Padded>(), raw.shape, plane);
  const int64_t nsb = raw.shape.nsb();
  const int64_t row_bytes = nsb * kPaddedBlockBytes;
  for_ranges(raw.shape.od(), grain_of(raw.shape.od(), row_bytes), [&](int64_t row, int64_t end) {
    const std::byte* from = raw.bytes.data() + row * (nsb * kBlockBytes);
    std::byte* to = plane.data() + row * row_bytes;
    for (; row < end; ++row) {
      for (int64_t sb = 0; sb < nsb; ++sb) {
        std::memcpy(to, from, kBlockBytes);
        from += kBlockBytes;
        to += kBlockBytes;
        for (int64_t pad = kBlockBytes; pad < kPaddedBlockBytes; ++pad) *to++ = std::byte{0};
      }
    }
  });
}

void mirror_w_exp(const RawTensor& raw, std::span<std::byte> plane) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_plane(describe<planegate::q6_k::WExp>(), raw.shape, plane);
  const int64_t nsb = raw.shape.nsb();
  const int64_t id = raw.shape.id();
  for_ranges(raw.shape.od(), grain_of(raw.shape.od(), id), [&](int64_t row, int64_t end) {
    const std::byte* from = raw.bytes.data() + row * (nsb * kBlockBytes);
    std::byte* to = plane.data() + row * id;
    uint8_t codes[kBlockElems];
    for (; row < end; ++row) {
      for (int64_t sb = 0; sb < nsb; ++sb) {
        decode_codes(from, codes);
        from += kBlockBytes;
        for (const uint8_t code : codes) *to++ = static_cast<std::byte>(code - kCentre);
      }
    }
  });
}

void mirror_w_dsc(const RawTensor& raw, std::span<std::byte> plane) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_plane(describe<planegate::q6_k::WDsc>(), raw.shape, plane);
  require_finite_scales(raw);
  const int64_t od = raw.shape.od();
  const int64_t nsb = raw.shape.nsb();
  const int64_t line_bytes = static_cast<int64_t>(plane.size()) / (nsb * kChunks);
  for_ranges(od, grain_of(od, nsb * kSubBlocks), [&](int64_t row, int64_t end) {
    std::byte* lines = plane.data();
    for (int64_t sb = 0; sb < nsb; ++sb) {
      write_pairs(raw, sb, row, end, lines, line_bytes);
      lines += kChunks * line_bytes;
    }
  });
}

}  // namespace planegate::oracle::q6_k
