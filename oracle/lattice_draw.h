#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>
#include <planegate/core/specs.h>

#include "oracle/half.h"

namespace planegate::oracle {

/// The numbers that one synthetic tensor is made of, each a hash of the seed and its coordinates.
class LatticeDraw {
 public:
  /// `stream` keeps the tensors of one seed apart.
  /// @throws ContractError for a code or scale below 1, or a window outside 0..39.
  LatticeDraw(uint64_t seed, uint64_t stream, const LatticeRanges& ranges)
      : seed_(mix(seed) ^ stream), ranges_(ranges) {
    require(ranges.code >= 1, "ranges.code", ranges.code, "below 1");
    require(ranges.scale >= 1, "ranges.scale", ranges.scale, "below 1");
    require(ranges.window >= 0 && ranges.window <= kF16MaxExponent - kF16MinExponent,
            "ranges.window", ranges.window, "outside 0..39, the powers of two of an f16");
  }

  /// Of elements k, k+1, ... @pre min <= 0 <= max. @post within -code..code and min..max.
  void codes(int64_t line, int64_t k, int64_t min, int64_t max, std::span<int8_t> out) const;

  /// A signed integer scale, never 0: magnitude 1..scale within an int8, 128 only as -128.
  int8_t integer_scale(int64_t line, int64_t sub) const {
    const uint64_t drawn = hash(line, sub, kIntegerScale);
    const int64_t magnitude = pick(drawn, 1, std::min<int64_t>(128, ranges_.scale));
    const bool negative = magnitude == 128 || (drawn & 1) != 0;
    return static_cast<int8_t>(negative ? -magnitude : magnitude);
  }

  /// f16 bits of 1, or of +-2^e where the ranges are scaled, and then of 0 for one in sixteen.
  /// @post exponents of one line lie within `window` of each other and in -24..15.
  uint16_t float_scale(int64_t line, int64_t block) const {
    if (!ranges_.scaled) return f64_to_f16(1.0);
    const int64_t base =
        pick(hash(line, 0, kLineExponent), kF16MinExponent, kF16MaxExponent - ranges_.window);
    const uint64_t drawn = hash(line, block, kFloatScale);
    if ((drawn >> 1) % 16 == 0) return 0;
    const int exponent = static_cast<int>(base + pick(drawn, 0, ranges_.window));
    return f64_to_f16(std::ldexp((drawn & 1) != 0 ? -1.0 : 1.0, exponent));
  }

 private:
  enum Kind : uint64_t { kCode, kIntegerScale, kFloatScale, kLineExponent };

  uint64_t hash(int64_t line, int64_t at, Kind kind) const {
    return payload(seed_, static_cast<uint64_t>(line), static_cast<uint64_t>(at), kind);
  }
  /// Uniform in min..max, from the hash's high half.
  static int64_t pick(uint64_t hash, int64_t min, int64_t max) {
    return min + static_cast<int64_t>(((hash >> 32) * static_cast<uint64_t>(max - min + 1)) >> 32);
  }

  uint64_t seed_;
  LatticeRanges ranges_;
};

}  // namespace planegate::oracle
