#pragma once

#include <planegate/simt/stamp.h>

#include "kernels/q6_k/half_activations.h"
#include "kernels/q6_k/scales.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// Y (nt, od) = X (nt, id) * W (od, id)^T on f16 tensor cores, asynchronously (wgmma).
///
/// A block makes a tile of 128 rows x 128 tokens: two groups of four warps, 64 rows each. A step
/// takes 64 elements of k. int8 codes come through shared memory and become f16 in registers,
/// w = code * sc, exact up to 2^11, while the tensor cores multiply the step before; activations
/// are f16 tiles in shared memory (HalfActivations). A super-block of 256 is one chain in the
/// tensor cores, then acc += d * part in f32. Activation scales are applied at the end. The
/// super-blocks are dealt to `splits` blocks; with several, y is (split, nt, od) partial sums.
template <class Codes_, class Scales_, class Policies_ = HalfPolicies>
struct GemmF16 {
  using Codes = Codes_;
  using Scales = Scales_;
  using Policies = Policies_;
  using Pipeline = typename Policies::Pipeline;
  static constexpr const char* kArchitecture = "sm_90a";
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 1;
  static constexpr int kTileTokens = HalfPlanes::kTileTokens;
  static constexpr int64_t kFewestTokens = 33;  ///< below, a tile is mostly empty
  static constexpr int kTileRows = 128;
  static constexpr int kStepElems = 64;
  static constexpr int kSteps = 4;   ///< of a super-block
  static constexpr int kStages = 5;  ///< steps in shared memory; super-blocks: two
  static constexpr int kStageX = kTileTokens * 8;
  static constexpr int kStageW = kTileRows * 4;
  static constexpr int kStageScales = kTileRows * 2;
  static constexpr int kRowsOfThread = kStageW / kThreads;
  static_assert(Codes::kContiguousElems % kSuperBlockElems == 0);
  /// One block an SM: as many parts as still run at once.
  static constexpr int64_t kBlocksAtOnce = 132;
  static constexpr int64_t kMostSplits = 16;

  struct alignas(1024) Shared {
    Words4 x[kStages * kStageX];      // (stage, token, piece of 8 f16, swizzled)
    Words4 w[kStages * kStageW];      // (stage, row, piece of 16 codes)
    Words4 scales[2 * kStageScales];  // (super-block, row): 16 sc, then d
  };

  struct Args {
    typename Codes::Plane codes;     // (od, id)
    typename Scales::Plane scales;   // (od, id)
    GlobalPtr<const Words4> x;       // (tokens, id) f16
    GlobalPtr<const float> x_scale;  // (tokens)
    GlobalPtr<float> y;              // (nt, od)
    GlobalPtr<Words4> stamps;        // (blocks) or null
    Words4 stamp;
    int64_t od, id, nt;
    int splits;
  };

  static int64_t splits(const Shape& s) {
    const int64_t tiles = (s.od() + kTileRows - 1) / kTileRows * HalfPlanes::tiles(s);
    const int64_t wanted = kBlocksAtOnce / tiles;
    const int64_t most = s.nsb() < kMostSplits ? s.nsb() : kMostSplits;
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
  }
  static simt::Grid grid(const Shape& s) {
    return {(s.od() + kTileRows - 1) / kTileRows, HalfPlanes::tiles(s) * splits(s)};
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    simt::leave_stamp(args.stamps, args.stamp);
    const int split = simt::block_y() % args.splits;
    const int blocks = static_cast<int>(args.id / kSuperBlockElems);
    const int begin = Policies::Parts::begin(blocks, split, args.splits) * kSteps;
    const int end = Policies::Parts::end(blocks, split, args.splits) * kSteps;
    float acc[64] = {};
    if (begin < end) sum(args, shared, begin, end, acc);
    store(args, split, acc);
  }

 private:
  /// The rows of a step as the lane multiplies them: fragment j is elements 16t+4j.. of its rows.
  struct Fragments {
    Words4 of[kSteps];
  };

  static PLANEGATE_DEVICE void sum(const Args& args, SharedRef<Shared> shared, int begin, int end,
                                   float (&acc)[64]) {
    Sources from = sources(args);
    PLANEGATE_UNROLL
    for (int ahead = 0; ahead < kStages - 1; ++ahead) {
      if (begin + ahead < end) stage(args, shared, from, begin + ahead, ahead % kSteps);
      simt::cp_async_commit();
    }
    Pipeline::template arrived<kStages - 2>();
    Fragments now = fragments(shared, begin, 0);
    float part[64];
    for (int block = begin; block < end; block += kSteps) {
      PLANEGATE_UNROLL
      for (int i = 0; i < kSteps; ++i) {
        const int step = block + i;
        multiply(shared, step, i > 0, now, part);
        Pipeline::template arrived<kStages - 3>();
        // The buffer of the step before: all warps have waited for its products.
        const int staged = step + kStages - 1;
        if (staged < end) stage(args, shared, from, staged, (i + kStages - 1) % kSteps);
        simt::cp_async_commit();
        Fragments next = {};
        if (step + 1 < end) next = fragments(shared, step + 1, (i + 1) % kSteps);
        Pipeline::multiplied(now.of);
        now = next;
      }
      add_block(shared, block / kSteps, part, acc);
    }
    simt::cp_async_wait<0>();
  }

  static PLANEGATE_DEVICE int64_t first_token(const Args& args) {
    return static_cast<int64_t>(simt::block_y() / args.splits) * kTileTokens;
  }
  static PLANEGATE_DEVICE int64_t first_row() {
    return static_cast<int64_t>(simt::block_x()) * kTileRows;
  }
  /// Of the tile: lane's first row; the other is 8 below.
  static PLANEGATE_DEVICE int lane_row() { return simt::warp() * 16 + simt::lane() / 4; }

  /// Where a thread copies from: addresses of the plane once a super-block.
  struct Sources {
    GlobalPtr<const Words4> x;                        // of the tile's first step
    GlobalPtr<const std::byte> codes[kRowsOfThread];  // of the super-block's first element
  };

  static PLANEGATE_DEVICE Sources sources(const Args& args) {
    return {args.x + ((first_token(args) + simt::thread() / 8) * args.id / 8 + simt::thread() % 8),
            {}};
  }

  /// `step` is number `of_block` of its super-block.
  static PLANEGATE_DEVICE void stage(const Args& args, SharedRef<Shared> shared, Sources& from,
                                     int step, int of_block) {
    const int64_t k0 = static_cast<int64_t>(step) * kStepElems;
    const int token = simt::thread() / 8;
    const auto x = shared.at(&Shared::x) + step % kStages * kStageX + token * 8 +
                   (simt::thread() % 8 ^ token % 8);
    PLANEGATE_UNROLL
    for (int i = 0; i < kStageX / kThreads; ++i) {
      constexpr int kTokens = kThreads / 8;
      simt::cp_async_16(
          x + i * kThreads,
          (from.x + (k0 / 8 + i * kTokens * (args.id / 8))).template cast<const std::byte>());
    }
    const auto w = shared.at(&Shared::w) + step % kStages * kStageW + simt::thread();
    PLANEGATE_UNROLL
    for (int i = 0; i < kRowsOfThread; ++i) {
      const int64_t row = first_row() + simt::thread() / 4 + i * (kThreads / 4);
      if (of_block == 0) from.codes[i] = Codes::at(args.codes, row, k0);
      Codes::Staging::copy(w + i * kThreads,
                           from.codes[i] + (of_block * kStepElems + simt::thread() % 4 * 16),
                           row < args.od);
    }
    if (of_block == 0) {
      const auto scales =
          shared.at(&Shared::scales) + Pipeline::scales_written_to(step / kSteps) * kStageScales;
      const int64_t row = first_row() + simt::thread() / 2;
      Scales::stage(scales + simt::thread(), args.scales, row, k0, simt::thread() % 2,
                    row < args.od);
    }
  }

  /// Starts part = (add ? part : 0) + w * x over a step.
  static PLANEGATE_DEVICE void multiply(SharedRef<Shared> shared, int step, bool add,
                                        const Fragments& w, float (&part)[64]) {
    const auto x = (shared.at(&Shared::x) + step % kStages * kStageX).template cast<const Words4>();
    Pipeline::before_multiply();
    PLANEGATE_UNROLL
    for (int j = 0; j < kSteps; ++j) {
      simt::wgmma_m64n128k16_f16(part, w.of[j], x, j, add || j > 0);
    }
    simt::wgmma_commit();
  }

  /// `step` is number `of_block` of its super-block.
  static PLANEGATE_DEVICE Fragments fragments(SharedRef<Shared> shared, int step, int of_block) {
    const auto w = shared.at(&Shared::w) + step % kStages * kStageW;
    const auto scales =
        (shared.at(&Shared::scales) + Pipeline::scales_read_from(step / kSteps) * kStageScales)
            .template cast<const uint32_t>();
    Fragments out;
    PLANEGATE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = lane_row() + 8 * half;
      const Words4 codes = w.load(row * 4 + simt::lane() % 4);
      // Lane t has sub-block 4*of_block + t.
      const uint32_t sc = scales.load(row * 8 + of_block);
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

  static PLANEGATE_DEVICE void add_block(SharedRef<Shared> shared, int block,
                                         const float (&part)[64], float (&acc)[64]) {
    const auto scales =
        (shared.at(&Shared::scales) + Pipeline::scales_read_from(block) * kStageScales)
            .template cast<const uint32_t>();
    PLANEGATE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float d = simt::half_to_float(scales.load((lane_row() + 8 * half) * 8 + 4) & 0xFFFFu);
      PLANEGATE_UNROLL
      for (int i = 0; i < 32; ++i) {
        const int at = i / 2 * 4 + 2 * half + i % 2;
        acc[at] += d * part[at];
      }
    }
  }

  static PLANEGATE_DEVICE void store(const Args& args, int split, const float (&acc)[64]) {
    const int64_t token0 = first_token(args) + simt::lane() % 4 * 2;
    const int64_t row0 = first_row() + lane_row();
    const GlobalPtr<float> y = args.y + split * args.nt * args.od;
    PLANEGATE_UNROLL
    for (int i = 0; i < 32; ++i) {
      const int64_t token = token0 + i / 2 * 8 + i % 2;
      const float scale = args.x_scale.load(token);
      PLANEGATE_UNROLL
      for (int half = 0; half < 2; ++half) {
        Policies::Output::store(y, args.nt, args.od, token, row0 + 8 * half,
                                acc[i / 2 * 4 + 2 * half + i % 2] * scale);
      }
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
