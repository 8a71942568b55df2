#pragma once

#include <planegate/simt/dialect.h>

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::GlobalPtr;
using simt::SharedRef;

/// Adds the partial sums (split, nt, od) of split K in order of the splits: one fixed order,
/// whatever the schedule. A block makes 128 rows of 8 tokens.
template <int kSplits>
struct ReduceSplits {
  static constexpr int kThreads = 128;
  static constexpr int kMinBlocks = 8;
  static constexpr int kTokens = 8;
  struct Shared {};
  struct Args {
    GlobalPtr<const float> partial;  // (split, nt, od)
    GlobalPtr<float> y;              // (nt, od)
    int64_t od, nt;
  };

  static simt::Grid grid(const Shape& shape) {
    return {(shape.od() + kThreads - 1) / kThreads, (shape.nt() + kTokens - 1) / kTokens};
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared>) {
    const int64_t row = static_cast<int64_t>(simt::block_x()) * kThreads + simt::thread();
    if (row >= args.od) return;
    const int64_t token0 = static_cast<int64_t>(simt::block_y()) * kTokens;
    for (int64_t token = token0; token < token0 + kTokens && token < args.nt; ++token) {
      float sum = 0.0f;
      for (int split = 0; split < kSplits; ++split) {
        sum += args.partial.load((split * args.nt + token) * args.od + row);
      }
      args.y.store(token * args.od + row, sum);
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
