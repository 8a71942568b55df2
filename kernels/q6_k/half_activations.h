#pragma once

#include "kernels/q6_k/half_policies.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::SharedRef;

/// Where GemmF16 reads the activations: scratch memory behind one pointer, in tiles as they lie in
/// shared memory.
///
/// x: (tile, step of 64 elements, token of the tile, piece of 8) f16, tokens rounded up to whole
/// tiles; piece p of token r is at p ^ r % 8. Of a step element 16t+4j+r lies at 16j + r/2*8 + 2t +
/// r%2: what one lane multiplies as its share of four k16 is then 16 neighbouring weights. A
/// token's values are its activations divided by its scale, a power of two that brings the largest
/// below 2^15, so that f16 holds what is not 2^-29 times smaller.
template <int kTileTokens_>
struct HalfPlanes {
  static constexpr int kTileTokens = kTileTokens_;
  static constexpr int kStepElems = 64;

  static int64_t tiles(const Shape& s) { return (s.nt() + kTileTokens - 1) / kTileTokens; }
  static int64_t x_bytes(const Shape& s) { return tiles(s) * kTileTokens * s.id() * 2; }
  static int64_t scale_bytes(const Shape& s) { return tiles(s) * kTileTokens * 4; }
  static int64_t size_bytes(const Shape& s) { return x_bytes(s) + scale_bytes(s); }

  /// Of 16 bytes, in x.
  static PLANEGATE_DEVICE int64_t piece_at(int64_t token, int64_t step, int64_t steps, int piece) {
    const auto of_tile = static_cast<int>(token % kTileTokens);
    return ((token / kTileTokens * steps + step) * kTileTokens + of_tile) * 8 +
           (piece ^ of_tile % 8);
  }
};

/// Int8 activations to f16 ones, a block a token. Tokens beyond nt become zeros.
template <class Planes_, class Policies = HalfPolicies>
struct HalfActivations {
  using Planes = Planes_;
  using ActCodes = typename Policies::ActCodes;
  using ActScales = typename Policies::ActScales;
  using Range = typename Policies::Range;
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr int kGroupElems = Planes::kStepElems;
  static constexpr int kWarps = kThreads / simt::kWarpLanes;

  struct Shared {
    float largest[kWarps];
  };
  struct Args {
    typename ActCodes::Plane qa8;   // (nt, id)
    typename ActScales::Plane sda;  // (nt, id)
    GlobalPtr<Words4> x;            // Planes
    GlobalPtr<float> scale;         // (tokens)
    int64_t id, nt;
  };

  static simt::Grid grid(const Shape& shape) {
    return {Planes::tiles(shape) * Planes::kTileTokens, 1};
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    const int64_t token = simt::block_x();
    const auto pieces = static_cast<int>(args.id / kGroupElems * 4);
    const bool valid = Policies::Tokens::covers(token, args.nt);
    float largest = 0.0f;
    for (int i = simt::thread(); valid && i < pieces; i += kThreads) {
      PLANEGATE_UNROLL
      for (int t = 0; t < 4; ++t) {
        const int64_t k = element(i, t);
        const float d = scale_of(args, token, k);
        const float code = static_cast<float>(largest_code(codes_of(args, token, k)));
        const float value = code * (d < 0.0f ? -d : d);
        largest = value > largest ? value : largest;
      }
    }
    largest = largest_of_block(shared, largest);
    const uint32_t exponent = Range::exponent(largest);
    const float down = power_of_two(2 * Range::kBias - exponent);
    for (int i = simt::thread(); i < pieces; i += kThreads) {
      store_piece(args, token, i, valid, down);
    }
    if (simt::thread() == 0) args.scale.store(token, power_of_two(exponent));
  }

 private:
  /// Piece i is j = i % 4 of group i / 4; its elements 16t + 4j + r, four a t.
  static PLANEGATE_DEVICE int64_t element(int piece, int t) {
    return static_cast<int64_t>(piece / 4) * kGroupElems + 16 * t + piece % 4 * 4;
  }
  static PLANEGATE_DEVICE uint32_t codes_of(const Args& args, int64_t token, int64_t k) {
    return args.qa8.template at<typename ActCodes::Layout::Codes>(token, k)
        .template cast<const uint32_t>()
        .load();
  }
  static PLANEGATE_DEVICE float scale_of(const Args& args, int64_t token, int64_t k) {
    return simt::half_to_float(args.sda.template bits<typename ActScales::Layout::D>(token, k));
  }
  static PLANEGATE_DEVICE int code(uint32_t codes, int i) {
    return static_cast<int8_t>(codes >> 8 * i);
  }
  static PLANEGATE_DEVICE int largest_code(uint32_t codes) {
    int largest = 0;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int value = code(codes, i);
      const int magnitude = value < 0 ? -value : value;
      largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
  }
  static PLANEGATE_DEVICE float power_of_two(uint32_t biased_exponent) {
    const uint32_t bits = biased_exponent << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }

  static PLANEGATE_DEVICE float largest_of_block(SharedRef<Shared> shared, float largest) {
    PLANEGATE_UNROLL
    for (int mask = simt::kWarpLanes / 2; mask > 0; mask /= 2) {
      const float other = simt::shuffle_xor(largest, mask);
      largest = other > largest ? other : largest;
    }
    const auto of_warps = shared.at(&Shared::largest);
    if (simt::lane() == 0) of_warps.store(simt::warp(), largest);
    simt::sync_threads();
    PLANEGATE_UNROLL
    for (int warp = 0; warp < kWarps; ++warp) {
      const float other = of_warps.load(warp);
      largest = other > largest ? other : largest;
    }
    return largest;
  }

  static PLANEGATE_DEVICE void store_piece(const Args& args, int64_t token, int piece, bool valid,
                                           float down) {
    Words4 low = {};
    Words4 high = {};
    PLANEGATE_UNROLL
    for (int t = 0; valid && t < 4; ++t) {
      const int64_t k = element(piece, t);
      const uint32_t codes = codes_of(args, token, k);
      const float d = scale_of(args, token, k) * down;
      const auto value = [&](int i) { return static_cast<float>(code(codes, i)) * d; };
      low.w[t] = simt::float_to_half2(value(0), value(1));
      high.w[t] = simt::float_to_half2(value(2), value(3));
    }
    const int64_t steps = args.id / kGroupElems;
    args.x.store(Planes::piece_at(token, piece / 4, steps, piece % 4 * 2), low);
    args.x.store(Planes::piece_at(token, piece / 4, steps, piece % 4 * 2 + 1), high);
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
