#pragma once

#include <planegate/simt/dialect.h>

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::GlobalPtr;
using simt::SharedRef;

/// Adds the partial sums (split, nt, od) of an element in order of the splits: one fixed order,
/// whatever the schedule.
struct InOrderOfSplits {
  static PLANEGATE_DEVICE float sum(GlobalPtr<const float> partial, int splits, int64_t nt,
                                    int64_t od, int64_t token, int64_t row) {
    float sum = 0.0f;
    for (int split = 0; split < splits; ++split) {
      sum += partial.load((split * nt + token) * od + row);
    }
    return sum;
  }
  /// The end of the tokens of a block.
  static PLANEGATE_DEVICE int64_t end(int64_t token_tile_end, int64_t nt) {
    return token_tile_end < nt ? token_tile_end : nt;
  }
};

/// The fix-up of split K: adds partial sums (split, nt, od). A block makes 128 rows of 8 tokens.
template <class Fixup = InOrderOfSplits>
struct ReduceSplits {
  static constexpr int kThreads = 128;
  static constexpr int kMinBlocks = 8;
  static constexpr int kTokens = 8;
  struct Shared {};
  struct Args {
    GlobalPtr<const float> partial;  // (split, nt, od)
    GlobalPtr<float> y;              // (nt, od)
    int64_t od, nt;
    int splits;
  };

  static simt::Grid grid(const Shape& shape) {
    return {(shape.od() + kThreads - 1) / kThreads, (shape.nt() + kTokens - 1) / kTokens};
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared>) {
    const int64_t row = static_cast<int64_t>(simt::block_x()) * kThreads + simt::thread();
    if (row >= args.od) return;
    const int64_t token0 = static_cast<int64_t>(simt::block_y()) * kTokens;
    const int64_t end = Fixup::end(token0 + kTokens, args.nt);
    for (int64_t token = token0; token < end; ++token) {
      args.y.store(token * args.od + row,
                   Fixup::sum(args.partial, args.splits, args.nt, args.od, token, row));
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
