#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace planegate::oracle {

/// IEEE binary16, written from its definition so that no compiler or CPU has a say in it.

inline constexpr int kF16MinExponent = -24;  ///< 2^-24 is the smallest subnormal
inline constexpr int kF16MaxExponent = 15;

inline bool f16_is_finite(uint16_t bits) {
  return (bits & 0x7c00u) != 0x7c00u;
}

/// The exact value; NaN for every NaN.
inline double f16_to_f64(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

/// The same value: every f16 is exact in f32.
inline float f16_to_f32(uint16_t bits) {
  return static_cast<float>(f16_to_f64(bits));
}

/// The nearest f16, ties to even; infinity from 65520 on; a quiet NaN for every NaN.
inline uint16_t f64_to_f16(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t sign = (bits >> 48) & 0x8000u;
  const int exponent = static_cast<int>((bits >> 52) & 2047) - 1023;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00u);
  if (exponent > kF16MaxExponent) return static_cast<uint16_t>(sign | 0x7c00u);
  if (exponent < kF16MinExponent - 1) return static_cast<uint16_t>(sign);

  const uint64_t significand = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  const bool normal = exponent >= -14;
  const int dropped_bits = normal ? 42 : 42 + (-14 - exponent);
  const uint64_t half = uint64_t{1} << (dropped_bits - 1);
  const uint64_t rest = significand & (2 * half - 1);
  uint64_t kept = significand >> dropped_bits;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // A carry out of the significand runs into the exponent, as far as infinity, as it should.
  if (normal) kept += static_cast<uint64_t>(exponent + 14) << 10;
  return static_cast<uint16_t>(sign | kept);
}

/// One rounding, since every f32 is exact in f64.
inline uint16_t f32_to_f16(float value) {
  return f64_to_f16(static_cast<double>(value));
}

/// Little-endian f16 bits at any address.
inline uint16_t load_f16(const std::byte* at) {
  uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}
inline void store_f16(uint16_t bits, std::byte* at) {
  std::memcpy(at, &bits, sizeof bits);
}

}  // namespace planegate::oracle
