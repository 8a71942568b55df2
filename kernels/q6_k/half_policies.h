#pragma once

#include "kernels/q6_k/gemm_policies.h"

/// What GemmF16 and the conversion before it do beside bringing weights, one policy each.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::SharedPtr;
using simt::Words4;

/// Copies, conversions and tensor cores side by side: what waits for what.
struct SideBySide {
  /// By all threads, before any copy.
  template <int kBarriers>
  static PLANEGATE_DEVICE void begin(SharedPtr<simt::Barrier> barriers) {
    if (simt::thread() == 0) {
      PLANEGATE_UNROLL
      for (int i = 0; i < kBarriers; ++i) simt::barrier_init(barriers + i, 1);
      simt::fence_async();
    }
    simt::sync_threads();
  }
  /// All steps but the last kAhead that were staged by cp.async have arrived, for all threads.
  template <int kAhead>
  static PLANEGATE_DEVICE void arrived() {
    simt::cp_async_wait<kAhead>();
    simt::sync_threads();
  }
  /// What a bulk copy brings has arrived.
  static PLANEGATE_DEVICE void phase(SharedPtr<simt::Barrier> full, int parity) {
    simt::barrier_wait(full, parity);
  }
  static PLANEGATE_DEVICE void before_multiply() { simt::wgmma_fence(); }
  /// The products of `operands`, all but the last kInFlight steps, are made: their registers may be
  /// taken.
  template <int kInFlight, int kOperands>
  static PLANEGATE_DEVICE void multiplied(const Words4 (&operands)[kOperands]) {
    simt::wgmma_wait<kInFlight>();
    for (const Words4& a : operands) simt::wgmma_release(a);
  }
  /// Which of two buffers has a super-block's scales.
  static PLANEGATE_DEVICE int scales_written_to(int block) { return block % 2; }
  static PLANEGATE_DEVICE int scales_read_from(int block) { return block % 2; }
};

/// What a row's sum is counted in: the last d that was not 0.
struct LastNonZero {
  static PLANEGATE_DEVICE bool has(uint32_t d_bits) { return (d_bits & 0x7FFFu) != 0; }
  static PLANEGATE_DEVICE float next(float unit, uint32_t d_bits) {
    return has(d_bits) ? simt::half_to_float(d_bits) : unit;
  }
  static PLANEGATE_DEVICE float ratio(float from, float to) { return from / to; }
};

/// A token's scale as a biased f32 exponent that brings its largest value to 2^kTop..2^(kTop+1).
struct LargestToTop {
  static constexpr uint32_t kBias = 127;
  static constexpr uint32_t kTop = 14;
  /// `largest` is 0 or a normal f32: at least 2^-24.
  static PLANEGATE_DEVICE uint32_t exponent(float largest) {
    uint32_t bits;
    memcpy(&bits, &largest, sizeof bits);
    return largest > 0.0f ? (bits >> 23) - kTop : kBias;
  }
};

/// Tokens of the last tile beyond nt become zeros.
struct MaskedTokens {
  static PLANEGATE_DEVICE bool covers(int64_t token, int64_t nt) { return token < nt; }
};

/// The policies of GemmF16 over those that it shares with GemmS8.
template <class Shared>
struct HalfOf : Shared {
  using Pipeline = SideBySide;
  using Units = LastNonZero;
  using Range = LargestToTop;
  using Tokens = MaskedTokens;
};
using HalfPolicies = HalfOf<GemmPolicies>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
