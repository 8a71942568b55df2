#pragma once

#include <planegate/formats/q8_act/contracts.h>
#include <planegate/simt/stamp.h>

#include "kernels/q6_k/scales.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using planegate::q8_act::Pad40;
using simt::SharedRef;

/// The small-batch path: Y (nt, od) for 1 to 8 tokens, bound by reading the weights once.
///
/// A warp makes one row: its lanes deal the 16-element pieces of k among them, dot codes by dp4a,
/// and add up in a butterfly. Each piece is decoded once and used for all tokens.
template <class Codes_, class Scales_>
struct DecodeS8 {
  using Codes = Codes_;
  using Scales = Scales_;
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr int kRows = kThreads / simt::kWarpLanes;
  static constexpr int kMaxTokens = 8;
  static constexpr int kPieceElems = 16;

  struct Shared {};
  struct Args {
    typename Codes::Plane codes;    // (od, id)
    typename Scales::Plane scales;  // (od, id)
    PlanePtr<Pad40> x;              // (nt, id)
    GlobalPtr<float> y;             // (nt, od)
    GlobalPtr<Words4> stamps;       // (blocks) or null
    Words4 stamp;
    int64_t od, id, nt;
  };

  static simt::Grid grid(const Shape& shape) { return {(shape.od() + kRows - 1) / kRows, 1}; }

  static Args bind(const LaunchRequest& request, simt::Binder& binder, uint32_t instance) {
    Args args{Codes::bind(request, binder),
              Scales::bind(request, binder),
              simt::bind_plane<Pad40>(request, binder),
              binder.pointer<float>(*request.y),
              {},
              simt::stamp_words(instance, simt::requested<typename Codes::Contract>(request)),
              request.shape.od(),
              request.shape.id(),
              request.shape.nt()};
    if (request.stamps != nullptr) args.stamps = binder.pointer<Words4>(*request.stamps);
    return args;
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared>) {
    simt::leave_stamp(args.stamps, args.stamp);
    const int64_t row = static_cast<int64_t>(simt::block_x()) * kRows + simt::warp();
    if (row >= args.od) return;
    float sums[kMaxTokens] = {};
    for (int64_t k = simt::lane() * kPieceElems; k < args.id; k += kPieceElems * simt::kWarpLanes) {
      add_piece(args, row, k, sums);
    }
    PLANEGATE_UNROLL
    for (int token = 0; token < kMaxTokens; ++token) {
      if (token >= args.nt) break;
      float sum = sums[token];
      for (int mask = simt::kWarpLanes / 2; mask > 0; mask /= 2) {
        sum += simt::shuffle_xor(sum, mask);
      }
      if (simt::lane() == 0) args.y.store(token * args.od + row, sum);
    }
  }

 private:
  static PLANEGATE_DEVICE void add_piece(const Args& args, int64_t row, int64_t k,
                                         float (&sums)[kMaxTokens]) {
    const Words4 codes = Codes::piece(args.codes, row, k);
    const float scale = Scales::scale(args.scales, row, k);
    PLANEGATE_UNROLL
    for (int token = 0; token < kMaxTokens; ++token) {
      if (token >= args.nt) break;
      const auto x = args.x.template at<Pad40::Codes>(token, k).template cast<const uint32_t>();
      int32_t dot = 0;
      PLANEGATE_UNROLL
      for (int i = 0; i < 4; ++i) dot = simt::dp4a(codes.w[i], x.load(i), dot);
      const float d_x = simt::half_to_float(args.x.template bits<Pad40::D>(token, k));
      sums[token] += static_cast<float>(dot) * (scale * d_x);
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
