#pragma once

#include <algorithm>

#include <planegate/simt/stamp.h>

#include "kernels/q6_k/decode_policies.h"
#include "kernels/q6_k/scales.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::SharedRef;

/// The small-batch path: Y (nt, od) for 1 to 8 tokens, bound by reading the weights once.
///
/// A warp makes two rows. A pass takes 2048 elements of k; a lane has a quad of each row, the 64
/// codes that share bytes of ql and qh (elements k, k+32, k+64, k+96 and the 15 behind each), loads
/// those of the next pass before it multiplies, dots codes by dp4a, and adds up in a butterfly.
/// Activations lie in shared memory, quad by quad.
template <class Codes_, class Scales_, class Policies_ = DecodePolicies>
struct DecodeS8 {
  using Codes = Codes_;
  using Scales = Scales_;
  using Policies = Policies_;
  using Activations = typename Policies::Activations;
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 2;
  static constexpr int kWarpRows = 2;
  static constexpr int kRows = kThreads / simt::kWarpLanes * kWarpRows;
  static constexpr int kMaxTokens = 8;
  static constexpr int kPieces = 4;  ///< of a quad, 16 elements each
  static constexpr int kPassElems = simt::kWarpLanes * kPieces * 16;
  static constexpr int kSlots = 16;  ///< passes x tokens in shared memory
  static constexpr int kSlotCodes = kPassElems / 16;
  static constexpr int kSlotScales = kPassElems / 32;

  struct Shared {
    Words4 codes[kSlots * kSlotCodes];   // (pass, token, piece, lane)
    float scales[kSlots * kSlotScales];  // (pass, token, half of a super-block, piece)
  };
  struct Args {
    typename Codes::Plane codes;    // (od, id)
    typename Scales::Plane scales;  // (od, id)
    typename Activations::Plane x;  // (nt, id)
    GlobalPtr<float> y;             // (nt, od)
    GlobalPtr<Words4> stamps;       // (blocks) or null
    Words4 stamp;
    int64_t od, id;
    int nt;  ///< made: at most kMaxTokens, the first ones
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
              static_cast<int>(std::min<int64_t>(request.shape.nt(), kMaxTokens))};
    if (request.stamps != nullptr) args.stamps = binder.pointer<Words4>(*request.stamps);
    return args;
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    simt::leave_stamp(args.stamps, args.stamp);
    const int64_t row = static_cast<int64_t>(simt::block_x()) * kRows + simt::warp() * kWarpRows;
    const typename Codes::Shifts shifts = Codes::shifts(args.codes, row, lane_at());
    const int64_t segment = static_cast<int64_t>(kSlots / args.nt) * kPassElems;
    float sums[kWarpRows][kMaxTokens] = {};
    Rows now = load(args, row, 0);
    for (int64_t begin = 0; begin < args.id; begin += segment) {
      if (begin > 0) simt::sync_threads();
      const int64_t end = begin + segment < args.id ? begin + segment : args.id;
      stage(args, shared, begin, end);
      simt::sync_threads();
      for (int64_t k0 = begin; k0 < end; k0 += kPassElems) {
        const Rows next = load(args, row, k0 + kPassElems);
        const int64_t k = Policies::Deal::quad(k0, lane_at(), args.id);
        if (k < args.id) multiply(shared, static_cast<int>(k - begin), args.nt, now, shifts, sums);
        now = next;
      }
    }
    store(args, row, sums);
  }

 private:
  /// What a lane brings of a row in a pass.
  struct Quad {
    typename Codes::Quad codes;
    typename Scales::Quad scales;
  };
  struct Rows {
    Quad of[kWarpRows];
  };

  /// A lane's first element in a pass: a super-block has four quads.
  static PLANEGATE_DEVICE int lane_at() {
    return simt::lane() / 4 * 256 + simt::lane() / 2 % 2 * 128 + simt::lane() % 2 * 16;
  }

  static PLANEGATE_DEVICE Rows load(const Args& args, int64_t row, int64_t k0) {
    Rows out = {};
    const int64_t k = Policies::Deal::quad(k0, lane_at(), args.id);
    if (k >= args.id) return out;
    PLANEGATE_UNROLL
    for (int r = 0; r < kWarpRows; ++r) {
      if (!Policies::Rows::covers(row + r, args.od)) break;
      out.of[r] = {Codes::quad(args.codes, row + r, k), Scales::quad(args.scales, row + r, k)};
    }
    return out;
  }

  /// Brings elements begin..end-1 of all tokens into shared memory.
  static PLANEGATE_DEVICE void stage(const Args& args, SharedRef<Shared> shared, int64_t begin,
                                     int64_t end) {
    using Layout = typename Activations::Layout;
    const int chunks = static_cast<int>(end - begin) / 32;
    for (int i = simt::thread(); i < chunks * args.nt * 2; i += kThreads) {
      const int token = i / (chunks * 2);
      const int at = i % (chunks * 2) * 16;
      const int64_t k = begin + at;
      const auto from =
          args.x.template at<typename Layout::Codes>(token, k).template cast<const uint32_t>();
      Words4 piece;
      PLANEGATE_UNROLL
      for (int w = 0; w < 4; ++w) piece.w[w] = Policies::ActDecode::codes(from.load(w));
      shared.at(&Shared::codes).store(codes_at(at, token, args.nt), piece);
      if (at % 32 == 0) {
        const uint32_t d = args.x.template bits<typename Layout::D>(token, k);
        shared.at(&Shared::scales).store(scales_at(at, token, args.nt), simt::half_to_float(d));
      }
    }
  }

  /// Of the piece that starts at element `at` of a segment.
  static PLANEGATE_DEVICE int codes_at(int at, int token, int nt) {
    const int lane = at % kPassElems / 128 * 2 + at / 16 % 2;
    return (at / kPassElems * nt + token) * kSlotCodes + at / 32 % 4 * simt::kWarpLanes + lane;
  }
  static PLANEGATE_DEVICE int scales_at(int at, int token, int nt) {
    return (at / kPassElems * nt + token) * kSlotScales + at % kPassElems / 32;
  }

  /// Adds the products of the quad that starts at element `at` of the segment.
  static PLANEGATE_DEVICE void multiply(SharedRef<Shared> shared, int at, int nt, const Rows& rows,
                                        const typename Codes::Shifts& shifts,
                                        float (&sums)[kWarpRows][kMaxTokens]) {
    Words4 codes[kWarpRows][kPieces];
    PLANEGATE_UNROLL
    for (int r = 0; r < kWarpRows; ++r) {
      PLANEGATE_UNROLL
      for (int i = 0; i < kPieces; ++i) {
        codes[r][i] = Codes::piece_of(rows.of[r].codes, shifts, i);
      }
    }
    PLANEGATE_UNROLL
    for (int token = 0; token < kMaxTokens; ++token) {
      if (token >= nt) break;
      const auto x = shared.at(&Shared::codes) + codes_at(at, token, nt);
      const auto d_x = shared.at(&Shared::scales) + scales_at(at, token, nt);
      PLANEGATE_UNROLL
      for (int i = 0; i < kPieces; ++i) {
        const Words4 piece = x.load(i * simt::kWarpLanes);
        const float d = d_x.load(i);
        const int32_t centre = Codes::centre(piece);
        PLANEGATE_UNROLL
        for (int r = 0; r < kWarpRows; ++r) {
          int32_t dot = centre;
          PLANEGATE_UNROLL
          for (int w = 0; w < 4; ++w) dot = simt::dp4a(codes[r][i].w[w], piece.w[w], dot);
          sums[r][token] += static_cast<float>(dot) * (rows.of[r].scales.of[i] * d);
        }
      }
    }
  }

  static PLANEGATE_DEVICE void store(const Args& args, int64_t row,
                                     const float (&sums)[kWarpRows][kMaxTokens]) {
    PLANEGATE_UNROLL
    for (int token = 0; token < kMaxTokens; ++token) {
      if (token >= args.nt) break;
      PLANEGATE_UNROLL
      for (int r = 0; r < kWarpRows; ++r) {
        const float sum = Policies::WarpSum::sum(sums[r][token]);
        const bool valid = Policies::Rows::covers(row + r, args.od);
        if (simt::lane() == 0 && valid) args.y.store(token * args.od + row + r, sum);
      }
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
