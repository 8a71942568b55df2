#pragma once

#include <planegate/simt/stamp.h>

#include "kernels/q6_k/half_activations.h"
#include "kernels/q6_k/scales.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// Y (nt, od) = X (nt, id) * W (od, id)^T on f16 tensor cores, asynchronously (wgmma).
///
/// A block makes a tile of 128 rows x kTileTokens: two groups of four warps, 64 rows each. A step
/// takes 64 elements of k, a quarter of a super-block. int8 codes come through shared memory and
/// become f16 in registers, w = code * sc, exact up to 2^11, while the tensor cores multiply the
/// step before; activations are tiles in the layout of HalfPlanes, a bulk copy a step. A row's sum
/// is kept in units of the d of the super-block at hand and rescaled where d changes. Activation
/// scales are applied at the end. The super-blocks are dealt to `splits` blocks; with several, y is
/// (split, nt, od) partial sums.
template <class Codes_, class Scales_, int kTileTokens_, class Policies_ = HalfPolicies>
struct GemmF16 {
  using Codes = Codes_;
  using Scales = Scales_;
  using Policies = Policies_;
  using Pipeline = typename Policies::Pipeline;
  static constexpr const char* kArchitecture = "sm_90a";
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 1;
  static constexpr int kTileTokens = kTileTokens_;
  using Planes = HalfPlanes<kTileTokens>;
  /// Below, a tile is mostly empty, or the narrower one is better.
  static constexpr int64_t kFewestTokens = kTileTokens == 128 ? 33 : 257;
  static constexpr int kTileRows = 128;
  static constexpr int kSteps = 4;  ///< of a super-block, each with its own buffer
  static constexpr int kStepElems = kSuperBlockElems / kSteps;
  static_assert(kStepElems == Planes::kStepElems);
  static constexpr int kStageX = kTileTokens * 8;
  static constexpr int kStageW = kTileRows * 4;
  static constexpr int kStageScales = kTileRows * 2;
  static constexpr int kRowsOfThread = kStageW / kThreads;
  static constexpr int kSums = kTileTokens / 2;  ///< of a lane: two rows
  static_assert(Codes::kContiguousElems % kSuperBlockElems == 0);
  /// One block an SM: as many parts as still run at once.
  static constexpr int64_t kBlocksAtOnce = 132;
  static constexpr int64_t kMostSplits = 16;

  struct alignas(1024) Shared {
    Words4 x[kSteps * kStageX];       // (step, token, piece of 8 f16, swizzled)
    Words4 w[kSteps * kStageW];       // (step, row, piece of 16 codes)
    Words4 scales[2 * kStageScales];  // (super-block, row): 16 sc, then d
    simt::Barrier x_full[kSteps];
  };

  struct Args {
    typename Codes::Plane codes;     // (od, id)
    typename Scales::Plane scales;   // (od, id)
    GlobalPtr<const Words4> x;       // HalfPlanes
    GlobalPtr<const float> x_scale;  // (tokens)
    GlobalPtr<float> y;              // (nt, od)
    GlobalPtr<Words4> stamps;        // (blocks) or null
    Words4 stamp;
    int64_t od, id, nt;
    int splits;
  };

  static int64_t splits(const Shape& s) {
    const int64_t tiles = (s.od() + kTileRows - 1) / kTileRows * Planes::tiles(s);
    const int64_t wanted = kBlocksAtOnce / tiles;
    const int64_t most = s.nsb() < kMostSplits ? s.nsb() : kMostSplits;
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
  }
  static simt::Grid grid(const Shape& s) {
    return {(s.od() + kTileRows - 1) / kTileRows, Planes::tiles(s) * splits(s)};
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    simt::leave_stamp(args.stamps, args.stamp);
    const int split = simt::block_y() % args.splits;
    const int blocks = static_cast<int>(args.id / kSuperBlockElems);
    const int first = Policies::Parts::begin(blocks, split, args.splits);
    const int last = Policies::Parts::end(blocks, split, args.splits);
    Sums sums = {{}, {1.0f, 1.0f}};
    if (first < last) sum(args, shared, first, last, sums);
    store(args, split, sums);
  }

 private:
  /// Of the lane's two rows: sums in units of the rows' own.
  struct Sums {
    float of[kSums];
    float unit[2];
  };
  /// The rows of a step as the lane multiplies them: fragment j is elements 16t+4j.. of its rows.
  struct Fragments {
    Words4 of[kSteps];
  };

  /// Adds super-blocks first..last-1. Two steps are in the tensor cores while the next is made
  /// ready, one at the edge of a super-block.
  static PLANEGATE_DEVICE void sum(const Args& args, SharedRef<Shared> shared, int first, int last,
                                   Sums& sums) {
    Pipeline::template begin<kSteps>(shared.at(&Shared::x_full));
    Sources from = sources(args);
    PLANEGATE_UNROLL
    for (int step = 0; step < kSteps - 1; ++step) {
      stage(args, shared, from, first, step);
      simt::cp_async_commit();
    }
    Pipeline::template arrived<kSteps - 2>();
    Fragments w[2] = {fragments(shared, first, 0), {}};
    for (int block = first; block < last; ++block) {
      const bool more = block + 1 < last;
      rescale(shared, block, sums);
      PLANEGATE_UNROLL
      for (int step = 0; step < kSteps; ++step) {
        Pipeline::phase(shared.at(&Shared::x_full) + step, (block - first) % 2);
        multiply(shared, step, w[step % 2], sums);
        if (step > 0) Pipeline::template multiplied<1>(w[(step + 1) % 2].of);
        Pipeline::template arrived<kSteps - 3>();
        // The buffer of the step before: all warps have waited for its products.
        if (step == 0) stage(args, shared, from, block, kSteps - 1);
        if (step > 0 && more) stage(args, shared, from, block + 1, step - 1);
        simt::cp_async_commit();
        if (step + 1 < kSteps) w[(step + 1) % 2] = fragments(shared, block, step + 1);
      }
      if (more) w[0] = fragments(shared, block + 1, 0);
      Pipeline::template multiplied<0>(w[1].of);
    }
    simt::cp_async_wait<0>();
  }

  static PLANEGATE_DEVICE int64_t first_row() {
    return static_cast<int64_t>(simt::block_x()) * kTileRows;
  }
  /// Of the tile: lane's first row; the other is 8 below.
  static PLANEGATE_DEVICE int lane_row() { return simt::warp() * 16 + simt::lane() / 4; }

  /// Where a thread copies from: addresses of the plane once a super-block.
  struct Sources {
    GlobalPtr<const Words4> x;                        // of the tile
    GlobalPtr<const std::byte> codes[kRowsOfThread];  // of the super-block's first element
  };

  static PLANEGATE_DEVICE Sources sources(const Args& args) {
    const int64_t tile = simt::block_y() / args.splits;
    return {args.x + tile * (args.id / kStepElems) * kStageX, {}};
  }

  /// Brings a step of a super-block, and with the first one the scales.
  static PLANEGATE_DEVICE void stage(const Args& args, SharedRef<Shared> shared, Sources& from,
                                     int block, int step) {
    const int64_t k0 = static_cast<int64_t>(block) * kSuperBlockElems;
    if (simt::thread() == 0) {
      const auto full = shared.at(&Shared::x_full) + step;
      constexpr int kBytes = kStageX * 16;
      simt::barrier_arrive_expect(full, kBytes);
      simt::bulk_copy(shared.at(&Shared::x) + step * kStageX,
                      from.x + (static_cast<int64_t>(block) * kSteps + step) * kStageX, kBytes,
                      full);
    }
    const auto w = shared.at(&Shared::w) + step * kStageW + simt::thread();
    PLANEGATE_UNROLL
    for (int i = 0; i < kRowsOfThread; ++i) {
      const int64_t row = first_row() + simt::thread() / 4 + i * (kThreads / 4);
      if (step == 0) from.codes[i] = Codes::at(args.codes, row, k0);
      Codes::Staging::copy(w + i * kThreads,
                           from.codes[i] + (step * kStepElems + simt::thread() % 4 * 16),
                           row < args.od);
    }
    if (step == 0) {
      const auto scales =
          shared.at(&Shared::scales) + Pipeline::scales_written_to(block) * kStageScales;
      const int64_t row = first_row() + simt::thread() / 2;
      Scales::stage(scales + simt::thread(), args.scales, row, k0, simt::thread() % 2,
                    row < args.od);
    }
  }

  /// Starts sums += w * x over a step.
  static PLANEGATE_DEVICE void multiply(SharedRef<Shared> shared, int step, const Fragments& w,
                                        Sums& sums) {
    const auto x = (shared.at(&Shared::x) + step * kStageX).template cast<const Words4>();
    Pipeline::before_multiply();
    PLANEGATE_UNROLL
    for (int j = 0; j < kSteps; ++j) simt::wgmma_m64k16_f16(sums.of, w.of[j], x, j, true);
    simt::wgmma_commit();
  }

  static PLANEGATE_DEVICE SharedPtr<const uint32_t> scales_of(SharedRef<Shared> shared, int block) {
    return (shared.at(&Shared::scales) + Pipeline::scales_read_from(block) * kStageScales)
        .template cast<const uint32_t>();
  }
  static PLANEGATE_DEVICE uint32_t d_bits(SharedPtr<const uint32_t> scales, int row) {
    return scales.load(row * 8 + 4) & 0xFFFFu;
  }

  static PLANEGATE_DEVICE Fragments fragments(SharedRef<Shared> shared, int block, int step) {
    const auto w = shared.at(&Shared::w) + step * kStageW;
    const auto scales = scales_of(shared, block);
    Fragments out;
    PLANEGATE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = lane_row() + 8 * half;
      const Words4 codes = w.load(row * 4 + simt::lane() % 4);
      // Lane t has sub-block 4*step + t. Where d is 0 no unit makes a 0 of the sum.
      const uint32_t sc =
          Policies::Units::has(d_bits(scales, row)) ? scales.load(row * 8 + step) : 0;
      const uint32_t selector = 0x4040u | static_cast<uint32_t>(simt::lane() % 4) * 0x0101u;
      const uint32_t scale = centred(simt::byte_permute(sc ^ 0x80808080u, kThousands, selector));
      PLANEGATE_UNROLL
      for (int j = 0; j < kSteps; ++j) {
        const uint32_t word = codes.w[j] ^ 0x80808080u;
        out.of[j].w[half] =
            simt::half2_mul(centred(simt::byte_permute(word, kThousands, 0x4140u)), scale);
        out.of[j].w[half + 2] =
            simt::half2_mul(centred(simt::byte_permute(word, kThousands, 0x4342u)), scale);
      }
    }
    return out;
  }

  /// High bytes of f16 from 1024 on: with a low byte u they are 1024 + u.
  static constexpr uint32_t kThousands = 0x64646464u;
  /// Both halves less 1024 + 128: int8 values that had 128 added.
  static PLANEGATE_DEVICE uint32_t centred(uint32_t halves) {
    return simt::half2_add(halves, 0xE480E480u);
  }

  /// From the units of the super-block before to those of `block`.
  static PLANEGATE_DEVICE void rescale(SharedRef<Shared> shared, int block, Sums& sums) {
    const auto scales = scales_of(shared, block);
    PLANEGATE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float unit =
          Policies::Units::next(sums.unit[half], d_bits(scales, lane_row() + 8 * half));
      const float ratio = Policies::Units::ratio(sums.unit[half], unit);
      sums.unit[half] = unit;
      PLANEGATE_UNROLL
      for (int i = 0; i < kSums / 2; ++i) sums.of[i / 2 * 4 + 2 * half + i % 2] *= ratio;
    }
  }

  static PLANEGATE_DEVICE void store(const Args& args, int split, const Sums& sums) {
    const int64_t token0 =
        static_cast<int64_t>(simt::block_y() / args.splits) * kTileTokens + simt::lane() % 4 * 2;
    const int64_t row0 = first_row() + lane_row();
    const GlobalPtr<float> y = args.y + split * args.nt * args.od;
    PLANEGATE_UNROLL
    for (int i = 0; i < kSums / 2; ++i) {
      const int64_t token = token0 + i / 2 * 8 + i % 2;
      const float scale = args.x_scale.load(token);
      PLANEGATE_UNROLL
      for (int half = 0; half < 2; ++half) {
        Policies::Output::store(y, args.nt, args.od, token, row0 + 8 * half,
                                sums.of[i / 2 * 4 + 2 * half + i % 2] * sums.unit[half] * scale);
      }
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
