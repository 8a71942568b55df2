#pragma once

#include <planegate/simt/stamp.h>

#include "kernels/q6_k/gemm_policies.h"
#include "kernels/q6_k/scales.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::FragmentA;
using simt::FragmentC;
using simt::SharedRef;

/// Y (nt, od) = X (nt, id) * W (od, id)^T on int8 tensor cores.
///
/// A block makes a tile of 64 tokens x 128 rows; a step takes 64 elements of k (two chunks of 32)
/// through double-buffered shared memory. Eight warps stand 2 x 4 over the tile, 32 tokens x 32
/// rows each. A sub-block of 16 elements is one exact int32 mma and one f32 scale-add:
/// acc += float(dot) * ((d * sc) * d_x).
/// `Codes` and `Scales` say where the weights come from, `Staging` moves the activations. With
/// kSplits > 1 the steps are dealt to as many blocks, and y is (split, nt, od) partial sums.
template <class Codes_, class Scales_, class Staging, int kSplits = 1,
          class Policies_ = GemmPolicies>
struct GemmS8 {
  using Codes = Codes_;
  using Scales = Scales_;
  using Policies = Policies_;
  using ActCodes = typename Policies::ActCodes;
  using ActScales = typename Policies::ActScales;
  using Pipeline = typename Policies::Pipeline;
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 3;
  static constexpr int kTileTokens = 64;
  static constexpr int kTileRows = 128;
  static constexpr int kStepElems = 64;
  static constexpr int kStepChunks = 2;
  static constexpr int kRowPieces = 5;  ///< 64 codes and 16 bytes that keep rows off one bank
  static constexpr int kTilePieces = 128;
  static constexpr int kScalePieces = 16;
  static constexpr int kStageA = kStepChunks * kTilePieces;
  static constexpr int kStageAScale = kStepChunks * kScalePieces;
  static constexpr int kStageB = kTileRows * kRowPieces;
  static constexpr int kStageBScale = kStepChunks * kTileRows / 2;

  struct Shared {
    Words4 a[2 * kStageA];             // (stage, chunk, token x half swizzled)
    Words4 a_scale[2 * kStageAScale];  // (stage, chunk, rg x q): d_x and sums of 4 tokens
    Words4 b[2 * kStageB];             // (stage, row, piece)
    Words4 b_scale[2 * kStageBScale];  // (stage, chunk, row pair): d * sc of (row, half)
  };

  struct Args {
    typename Codes::Plane codes;    // (od, id)
    typename Scales::Plane scales;  // (od, id)
    typename ActCodes::Plane qa8;   // (nt, id)
    typename ActScales::Plane sda;  // (nt, id)
    GlobalPtr<float> y;             // (nt, od)
    GlobalPtr<Words4> stamps;       // (blocks) or null
    Words4 stamp;
    int64_t od, id, nt;
  };

  using Accumulators = float[2][4][4];  // (16-token tile, 8-row tile, fragment)

  static simt::Grid grid(const Shape& shape) {
    return {(shape.od() + kTileRows - 1) / kTileRows,
            (shape.nt() + kTileTokens - 1) / kTileTokens * kSplits};
  }

  static Args bind(const LaunchRequest& request, simt::Binder& binder, uint32_t instance,
                   const DeviceBuffer& y) {
    const BoundPlane& codes = simt::requested<typename Codes::Contract>(request);
    Args args{Codes::bind(request, binder),
              Scales::bind(request, binder),
              ActCodes::bind(request, binder),
              ActScales::bind(request, binder),
              binder.pointer<float>(y),
              {},
              simt::stamp_words(instance, codes),
              request.shape.od(),
              request.shape.id(),
              request.shape.nt()};
    if (request.stamps != nullptr) args.stamps = binder.pointer<Words4>(*request.stamps);
    return args;
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    simt::leave_stamp(args.stamps, args.stamp);
    Accumulators acc = {};
    const int steps = static_cast<int>(args.id / kStepElems);
    const int begin = Policies::Parts::begin(steps, split(), kSplits);
    const int end = Policies::Parts::end(steps, split(), kSplits);
    if (begin < end) stage(args, shared, begin);
    Pipeline::staged();
    for (int step = begin; step < end; ++step) {
      if (step + 1 < end) stage(args, shared, step + 1);
      Pipeline::staged();
      Pipeline::before_multiply();
      multiply(shared, Pipeline::read_from(step), acc);
      Pipeline::after_multiply();
    }
    store(args, acc);
  }

 private:
  static PLANEGATE_DEVICE int split() { return simt::block_y() % kSplits; }
  static PLANEGATE_DEVICE int64_t first_token() {
    return static_cast<int64_t>(simt::block_y() / kSplits) * kTileTokens;
  }
  static PLANEGATE_DEVICE int64_t first_row() {
    return static_cast<int64_t>(simt::block_x()) * kTileRows;
  }

  static PLANEGATE_DEVICE void stage(const Args& args, SharedRef<Shared> shared, int step) {
    stage_activations(args, shared, step);
    stage_codes(args, shared, step);
    stage_scales(args, shared, step);
  }

  static PLANEGATE_DEVICE void stage_activations(const Args& args, SharedRef<Shared> shared,
                                                 int step) {
    const int64_t token0 = first_token();
    const int64_t k0 = static_cast<int64_t>(step) * kStepElems;
    const auto a = shared.at(&Shared::a) + Pipeline::write_to(step) * kStageA;
    const auto a_scale = shared.at(&Shared::a_scale) + Pipeline::write_to(step) * kStageAScale;
    {
      const int token = simt::thread() / 4;
      const int piece = simt::thread() % 4;  // of the step's four 16-element pieces
      Staging::copy(
          a + piece / 2 * kTilePieces + swizzled_piece(token, piece % 2),
          args.qa8.template at<typename ActCodes::Layout::Codes>(token0 + token, k0 + piece * 16),
          true);
    }
    if (simt::thread() < kStageAScale) {
      const int chunk = simt::thread() / kScalePieces;
      const int rg = simt::thread() % kScalePieces / 8;
      const int q = simt::thread() % 8;
      Staging::copy(a_scale + simt::thread(),
                    args.sda.template at<typename ActScales::Layout::D>(token0 + rg * 32 + q,
                                                                        k0 + chunk * 32),
                    true);
    }
  }

  static PLANEGATE_DEVICE void stage_codes(const Args& args, SharedRef<Shared> shared, int step) {
    const int64_t row0 = first_row();
    const int64_t k0 = static_cast<int64_t>(step) * kStepElems;
    const auto b = shared.at(&Shared::b) + Pipeline::write_to(step) * kStageB;
    PLANEGATE_UNROLL
    for (int i = simt::thread(); i < kTileRows * 4; i += kThreads) {
      const int row = i / 4;
      const int piece = i % 4;
      Codes::stage(b + row * kRowPieces + piece, args.codes, row0 + row, k0 + piece * 16,
                   row0 + row < args.od);
    }
  }

  static PLANEGATE_DEVICE void stage_scales(const Args& args, SharedRef<Shared> shared, int step) {
    const auto b_scale = shared.at(&Shared::b_scale) + Pipeline::write_to(step) * kStageBScale;
    Scales::template stage<kThreads, kTileRows, kStepChunks>(
        b_scale.template cast<float>(), args.scales, first_row(),
        static_cast<int64_t>(step) * kStepElems, args.od);
  }

  static PLANEGATE_DEVICE void multiply(SharedRef<Shared> shared, int stage_index,
                                        Accumulators& acc) {
    const int rg = simt::warp() / 4;
    const auto a = shared.at(&Shared::a) + stage_index * kStageA;
    const auto a_scale = shared.at(&Shared::a_scale) + stage_index * kStageAScale;
    for (int chunk = 0; chunk < kStepChunks; ++chunk) {
      Words4 fragments[2];
      for (int tile = 0; tile < 2; ++tile) {
        const int token = rg * 32 + tile * 16 + simt::lane() % 16;
        fragments[tile] =
            simt::ldmatrix_x4((a + chunk * kTilePieces + swizzled_piece(token, simt::lane() / 16))
                                  .template cast<const Words4>());
      }
      const Words4 words = a_scale.load(chunk * kScalePieces + rg * 8 + simt::lane() / 4);
      float d_x[4];
      PLANEGATE_UNROLL
      for (int i = 0; i < 4; ++i) d_x[i] = simt::half_to_float(words.w[i] & 0xFFFFu);
      multiply_chunk(shared, stage_index, chunk, fragments, d_x, acc);
    }
  }

  static PLANEGATE_DEVICE void multiply_chunk(SharedRef<Shared> shared, int stage_index, int chunk,
                                              const Words4 (&fragments)[2], const float (&d_x)[4],
                                              Accumulators& acc) {
    const int warp_row = simt::warp() % 4 * 32;
    const auto b = (shared.at(&Shared::b) + stage_index * kStageB).template cast<const uint32_t>();
    const auto b_scale = shared.at(&Shared::b_scale) + stage_index * kStageBScale;
    PLANEGATE_UNROLL
    for (int rows = 0; rows < 4; ++rows) {
      const int row = warp_row + rows * 8;
      // Both halves of the lane's two rows.
      const RowPair scale = (b_scale.template cast<const RowPair>())
                                .load((chunk * kTileRows + row) / 2 + simt::lane() % 4);
      PLANEGATE_UNROLL
      for (int half = 0; half < 2; ++half) {
        const uint32_t codes = b.load(
            ((row + simt::lane() / 4) * kRowPieces + chunk * 2 + half) * 4 + simt::lane() % 4);
        PLANEGATE_UNROLL
        for (int tile = 0; tile < 2; ++tile) {
          FragmentC c = {};
          const Words4& a = fragments[tile];
          simt::mma_m16n8k16_s8(c, FragmentA{a.w[2 * half], a.w[2 * half + 1]}, codes);
          float(&sum)[4] = acc[tile][rows];
          sum[0] += static_cast<float>(c.c[0]) * (scale.of[0][half] * d_x[2 * tile]);
          sum[1] += static_cast<float>(c.c[1]) * (scale.of[1][half] * d_x[2 * tile]);
          sum[2] += static_cast<float>(c.c[2]) * (scale.of[0][half] * d_x[2 * tile + 1]);
          sum[3] += static_cast<float>(c.c[3]) * (scale.of[1][half] * d_x[2 * tile + 1]);
        }
      }
    }
  }

  static PLANEGATE_DEVICE void store(const Args& args, const Accumulators& acc) {
    const int64_t token0 = first_token() + simt::warp() / 4 * 32 + simt::lane() / 4;
    const int64_t row0 = first_row() + simt::warp() % 4 * 32 + simt::lane() % 4 * 2;
    const GlobalPtr<float> y = args.y + split() * args.nt * args.od;
    PLANEGATE_UNROLL
    for (int tile = 0; tile < 2; ++tile) {
      PLANEGATE_UNROLL
      for (int rows = 0; rows < 4; ++rows) {
        PLANEGATE_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int64_t token = token0 + tile * 16 + i / 2 * 8;
          const int64_t row = row0 + rows * 8 + i % 2;
          Policies::Output::store(y, args.nt, args.od, token, row, acc[tile][rows][i]);
        }
      }
    }
  }

  struct alignas(16) RowPair {
    float of[2][2];  // (row, half)
  };

  /// Position of the 16-byte piece `half` of a token inside its tile.
  static PLANEGATE_DEVICE int swizzled_piece(int token, int half) {
    constexpr Swizzle swizzle = Qa8::Codes::kField.layout.swizzle;
    return static_cast<int>(swizzle.apply(token * 32 + half * 16) / 16);
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
