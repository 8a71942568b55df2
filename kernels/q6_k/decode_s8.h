#pragma once

#include <planegate/simt/stamp.h>

#include "kernels/q6_k/decode_policies.h"
#include "kernels/q6_k/scales.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::SharedRef;

/// The small-batch path: Y (nt, od) for 1 to 8 tokens, bound by reading the weights once.
///
/// A warp makes one row: its lanes deal the 16-element pieces of k among them, dot codes by dp4a,
/// and add up in a butterfly. Each piece is decoded once and used for all tokens.
template <class Codes_, class Scales_, class Policies_ = DecodePolicies>
struct DecodeS8 {
  using Codes = Codes_;
  using Scales = Scales_;
  using Policies = Policies_;
  using Activations = typename Policies::Activations;
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr int kRows = kThreads / simt::kWarpLanes;
  static constexpr int kMaxTokens = 8;
  static constexpr int kPieceElems = 16;

  struct Shared {};
  struct Args {
    typename Codes::Plane codes;    // (od, id)
    typename Scales::Plane scales;  // (od, id)
    typename Activations::Plane x;  // (nt, id)
    GlobalPtr<float> y;             // (nt, od)
    GlobalPtr<Words4> stamps;       // (blocks) or null
    Words4 stamp;
    int64_t od, id, nt;
  };

  static simt::Grid grid(const Shape& shape) { return {(shape.od() + kRows - 1) / kRows, 1}; }

  static Args bind(const LaunchRequest& request, simt::Binder& binder, uint32_t instance) {
    Args args{Codes::bind(request, binder),
              Scales::bind(request, binder),
              Activations::bind(request, binder),
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
    if (!Policies::Rows::covers(row, args.od)) return;
    float sums[kMaxTokens] = {};
    for (int64_t k0 = 0; k0 < args.id; k0 += kPieceElems * simt::kWarpLanes) {
      const int64_t k = Policies::Deal::piece(k0, simt::lane() * kPieceElems, args.id);
      if (k < args.id) add_piece(args, row, k, sums);
    }
    PLANEGATE_UNROLL
    for (int token = 0; token < kMaxTokens; ++token) {
      if (token >= args.nt) break;
      const float sum = Policies::WarpSum::sum(sums[token]);
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
      const auto x = args.x.template at<typename Activations::Layout::Codes>(token, k)
                         .template cast<const uint32_t>();
      int32_t dot = 0;
      PLANEGATE_UNROLL
      for (int i = 0; i < 4; ++i)
        dot = simt::dp4a(codes.w[i], Policies::ActDecode::codes(x.load(i)), dot);
      const float d_x =
          simt::half_to_float(args.x.template bits<typename Activations::Layout::D>(token, k));
      sums[token] += static_cast<float>(dot) * (scale * d_x);
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
