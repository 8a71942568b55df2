#pragma once

#include <planegate/formats/q8_act/contracts.h>

#include "kernels/q6_k/access.h"

/// What DecodeS8 does beside bringing weights, one policy each.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using planegate::q8_act::Pad40;

/// A row beyond od is neither read nor written.
struct MaskedRows {
  static PLANEGATE_DEVICE bool covers(int64_t row, int64_t od) { return row < od; }
};

/// Quads of k are dealt to the lanes in turn; a quad beyond id is skipped.
struct DealtInTurn {
  /// The first element of a lane's quad, `at` elements into a pass that starts at k0.
  static PLANEGATE_DEVICE int64_t quad(int64_t k0, int64_t at, int64_t) { return k0 + at; }
};

/// Adds a value of each lane, in five exchanges; every lane gets the sum.
struct Butterfly {
  static PLANEGATE_DEVICE float sum(float value) {
    for (int mask = simt::kWarpLanes / 2; mask > 0; mask /= 2) {
      value += simt::shuffle_xor(value, mask);
    }
    return value;
  }
};

/// Four activation codes as they stand.
struct SignedBytes {
  static PLANEGATE_DEVICE uint32_t codes(uint32_t word) { return word; }
};

/// The policies of the shipped variants.
struct DecodePolicies {
  using Activations = OwnLayout<Pad40>;
  using Rows = MaskedRows;
  using Deal = DealtInTurn;
  using WarpSum = Butterfly;
  using ActDecode = SignedBytes;

  /// What a variant with other policies says of them.
  static std::vector<Policy> policies() { return {}; }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
