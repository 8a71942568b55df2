#pragma once

#include <planegate/formats/q8_act/contracts.h>

#include "kernels/q6_k/access.h"

/// What GemmS8 does beside bringing weights, one policy each.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using planegate::q8_act::Qa8;
using planegate::q8_act::Sda;
using simt::GlobalPtr;

/// Two buffers in shared memory: while one step is multiplied the next is on its way.
struct TwoBuffers {
  static PLANEGATE_DEVICE int write_to(int step) { return step % 2; }
  static PLANEGATE_DEVICE int read_from(int step) { return step % 2; }
  /// All copies of a step were issued.
  static PLANEGATE_DEVICE void staged() { simt::cp_async_commit(); }
  static PLANEGATE_DEVICE void before_multiply() {
    simt::cp_async_wait<1>();
    simt::sync_threads();
  }
  static PLANEGATE_DEVICE void after_multiply() { simt::sync_threads(); }
};

/// Part `split` makes the steps begin..end-1 of k.
struct EvenParts {
  static PLANEGATE_DEVICE int begin(int steps, int split, int splits) {
    return steps * split / splits;
  }
  static PLANEGATE_DEVICE int end(int steps, int split, int splits) {
    return steps * (split + 1) / splits;
  }
};

/// Y (nt, od), row-major; the tile's tail is not written.
struct MaskedOutput {
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t nt, int64_t od, int64_t token,
                                     int64_t row, float value) {
    if (token < nt && row < od) y.store(token * od + row, value);
  }
};

/// The policies of the shipped variants.
struct GemmPolicies {
  using ActCodes = OwnLayout<Qa8>;
  using ActScales = OwnLayout<Sda>;
  using Pipeline = TwoBuffers;
  using Parts = EvenParts;
  using Output = MaskedOutput;

  /// What a variant with other policies says of them.
  static std::vector<Policy> policies() { return {}; }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
