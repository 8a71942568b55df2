#pragma once

#include <cstdint>
#include <cstring>

#include <planegate/simt/abi.h>

/// Values that kernels pass around, the same on both sides.
namespace planegate::simt {
inline namespace PLANEGATE_SIMT_ABI {

/// 16 bytes, the unit of wide copies.
struct alignas(16) Words4 {
  uint32_t w[4];
};

/// An mbarrier in shared memory. Opaque.
struct alignas(8) Barrier {
  uint64_t state;
};

/// The A fragment of m16n8k16 s8: rows g and g+8, elements 4t..4t+3.
struct FragmentA {
  uint32_t row_g, row_g8;
};

/// The C fragment of m16n8k16: row g columns 2t, 2t+1, then row g+8.
struct FragmentC {
  int32_t c[4];
};

/// The value of an f16, exact in f32. Every bit pattern; NaN stays NaN.
PLANEGATE_DEVICE float half_to_float(uint32_t bits) {
  // Shifting exponent and fraction into place and multiplying by 2^112 is exact for every finite
  // f16, subnormals included.
  const uint32_t sign = (bits & 0x8000u) << 16;
  const bool special = (bits & 0x7C00u) == 0x7C00u;
  uint32_t word = (bits & 0x7FFFu) << 13;
  float value;
  memcpy(&value, &word, sizeof value);
  value *= 0x1p112f;
  memcpy(&word, &value, sizeof value);
  if (special) word = 0x7F800000u | (bits & 0x3FFu) << 13;
  word |= sign;
  memcpy(&value, &word, sizeof value);
  return value;
}

/// The f16 nearest to a value, ties to even; NaN becomes 0x7FFF.
PLANEGATE_DEVICE uint32_t float_to_half(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  const uint32_t sign = word >> 16 & 0x8000u;
  word &= 0x7FFFFFFFu;
  if (word > 0x7F800000u) return 0x7FFFu;
  if (word >= 0x47800000u) return sign | 0x7C00u;  // 2^16 and above
  uint32_t bits = 0;
  uint32_t rest = 0;  // of the fraction, 32 bits
  if (word >= 0x38800000u) {
    bits = (word - 0x38000000u) >> 13;
    rest = word << 19;
  } else {
    const uint32_t shift = 126 - (word >> 23);  // of the significand, 14 at 2^-15
    const uint32_t significand = (word & 0x7FFFFFu) | 0x800000u;
    if (shift > 24) return sign;
    bits = significand >> shift;
    rest = significand << (32 - shift);
  }
  bits += rest > 0x80000000u || (rest == 0x80000000u && (bits & 1u) != 0) ? 1u : 0u;
  return sign | bits;
}

/// Four bytes, the first in the lowest bits.
PLANEGATE_DEVICE uint32_t pack_bytes(uint32_t b0, uint32_t b1, uint32_t b2, uint32_t b3) {
  return (b0 & 0xFFu) | (b1 & 0xFFu) << 8 | (b2 & 0xFFu) << 16 | b3 << 24;
}

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::simt
