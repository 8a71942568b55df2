#pragma once

#include "kernels/q6_k/known_bad/code_addresses.h"
#include "kernels/q6_k/known_bad/split_k.h"

/// The f16 path: asynchronous tensor cores that are not fenced or waited for, conversions that
/// lose range or read tails, and another plane's strides.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

template <class Pipeline_>
struct HalfPipelineOf : HalfPolicies {
  using Pipeline = Pipeline_;
  static std::vector<Policy> policies() { return {{"pipeline", Pipeline::kWhy}}; }
};
struct HalfWaitsForOneLess : SideBySide {
  static constexpr const char* kWhy = "one group of copies more may stay in flight";
  template <int kAhead>
  static PLANEGATE_DEVICE void arrived() {
    SideBySide::arrived<kAhead + 1>();
  }
};
struct HalfNoAsyncFence : SideBySide {
  static constexpr const char* kWhy = "no fence between barriers and bulk copies";
  template <int kBarriers>
  static PLANEGATE_DEVICE void begin(SharedPtr<simt::Barrier> barriers) {
    for (int i = 0; simt::thread() == 0 && i < kBarriers; ++i) simt::barrier_init(barriers + i, 1);
    simt::sync_threads();
  }
};
struct HalfNoPhase : SideBySide {
  static constexpr const char* kWhy = "bulk copies not waited for";
  static PLANEGATE_DEVICE void phase(SharedPtr<simt::Barrier>, int) {}
};
struct HalfNoBarrier : SideBySide {
  static constexpr const char* kWhy = "no barrier behind the wait";
  template <int kAhead>
  static PLANEGATE_DEVICE void arrived() {
    simt::cp_async_wait<kAhead>();
  }
};
struct HalfNoFence : SideBySide {
  static constexpr const char* kWhy = "no wgmma_fence";
  static PLANEGATE_DEVICE void before_multiply() {}
};
struct HalfNoWait : SideBySide {
  static constexpr const char* kWhy = "products never waited for";
  template <int kInFlight, int kOperands>
  static PLANEGATE_DEVICE void multiplied(const Words4 (&)[kOperands]) {}
};
struct HalfOneMoreInFlight : SideBySide {
  static constexpr const char* kWhy = "one group of products more may stay in flight";
  template <int kInFlight, int kOperands>
  static PLANEGATE_DEVICE void multiplied(const Words4 (&operands)[kOperands]) {
    SideBySide::multiplied<kInFlight + 1>(operands);
  }
};
struct HalfReleasesFirst : SideBySide {
  static constexpr const char* kWhy = "operands released before the wait";
  template <int kInFlight, int kOperands>
  static PLANEGATE_DEVICE void multiplied(const Words4 (&operands)[kOperands]) {
    for (const Words4& a : operands) simt::wgmma_release(a);
    simt::wgmma_wait<kInFlight>();
  }
};
struct HalfNoRelease : SideBySide {
  static constexpr const char* kWhy = "operands not held until the wait";
  template <int kInFlight, int kOperands>
  static PLANEGATE_DEVICE void multiplied(const Words4 (&)[kOperands]) {
    simt::wgmma_wait<kInFlight>();
  }
};
struct HalfOtherScales : SideBySide {
  static constexpr const char* kWhy = "scales of the other super-block";
  static PLANEGATE_DEVICE int scales_read_from(int block) { return (block + 1) % 2; }
};
struct HalfOneScaleBuffer : SideBySide {
  static constexpr const char* kWhy = "one buffer for the scales of both super-blocks";
  static PLANEGATE_DEVICE int scales_written_to(int) { return 0; }
  static PLANEGATE_DEVICE int scales_read_from(int) { return 0; }
};

struct HalfNotRescaled : HalfPolicies {
  struct Units : LastNonZero {
    static PLANEGATE_DEVICE float ratio(float, float) { return 1.0f; }
  };
  static std::vector<Policy> policies() { return {{"units", "sums kept as they are"}}; }
};
struct HalfUnitsOfZero : HalfPolicies {
  struct Units : LastNonZero {
    static PLANEGATE_DEVICE bool has(uint32_t) { return true; }
    static PLANEGATE_DEVICE float next(float, uint32_t d_bits) {
      return simt::half_to_float(d_bits);
    }
  };
  static std::vector<Policy> policies() { return {{"units", "a d of 0 as it is"}}; }
};
struct HalfUnscaled : HalfPolicies {
  struct Range : LargestToTop {
    static PLANEGATE_DEVICE uint32_t exponent(float) { return kBias; }
  };
  static std::vector<Policy> policies() { return {{"range", "activations as they are"}}; }
};
struct HalfTokensUnmasked : HalfPolicies {
  struct Tokens {
    static PLANEGATE_DEVICE bool covers(int64_t, int64_t) { return true; }
  };
  static std::vector<Policy> policies() { return {{"tokens", "beyond nt converted"}}; }
};

using HalfScales = BlockScales<Padded, CpAsync16>;
/// w_exp/f16 with other policies.
template <class Policies, int kTileTokens = 128>
using HalfWith =
    KnownBad<HalfVariant<StoredCodes<WExp, CpAsync16>, HalfScales, kTileTokens, Policies>>;
template <class Pipeline>
using HalfPipelined = HalfWith<HalfPipelineOf<Pipeline>>;

struct F16WaitsForOneLess : HalfPipelined<HalfWaitsForOneLess> {
  static constexpr const char* kName = "w_exp/f16+wait_one_less";
};
struct F16NoAsyncFence : HalfPipelined<HalfNoAsyncFence> {
  static constexpr const char* kName = "w_exp/f16+no_fence_async";
};
struct F16NoPhase : HalfPipelined<HalfNoPhase> {
  static constexpr const char* kName = "w_exp/f16+no_phase_wait";
};
struct F16NoBarrier : HalfPipelined<HalfNoBarrier> {
  static constexpr const char* kName = "w_exp/f16+no_barrier";
};
struct F16NoFence : HalfPipelined<HalfNoFence> {
  static constexpr const char* kName = "w_exp/f16+no_wgmma_fence";
};
struct F16NoWait : HalfPipelined<HalfNoWait> {
  static constexpr const char* kName = "w_exp/f16+no_wgmma_wait";
};
struct F16OneMoreInFlight : HalfPipelined<HalfOneMoreInFlight> {
  static constexpr const char* kName = "w_exp/f16+one_more_in_flight";
};
struct F16ReleasesFirst : HalfPipelined<HalfReleasesFirst> {
  static constexpr const char* kName = "w_exp/f16+released_too_early";
};
struct F16NoRelease : HalfPipelined<HalfNoRelease> {
  static constexpr const char* kName = "w_exp/f16+operands_not_held";
};
struct F16OtherScales : HalfPipelined<HalfOtherScales> {
  static constexpr const char* kName = "w_exp/f16+scales_of_other_block";
};
struct F16OneScaleBuffer : HalfPipelined<HalfOneScaleBuffer> {
  static constexpr const char* kName = "w_exp/f16+one_scale_buffer";
};
struct F16Overlap : HalfWith<HalfOf<StepsOf<PartsOverlap>>> {
  static constexpr const char* kName = "w_exp/f16+parts_overlap";
};
struct F16RowsUnmasked : HalfWith<HalfOf<GemmOutput<RowsUnmasked>>> {
  static constexpr const char* kName = "w_exp/f16+rows_unmasked";
};
struct F16NotRescaled : HalfWith<HalfNotRescaled> {
  static constexpr const char* kName = "w_exp/f16+not_rescaled";
};
struct F16UnitsOfZero : HalfWith<HalfUnitsOfZero> {
  static constexpr const char* kName = "w_exp/f16+units_of_zero";
};
struct F16WideOtherScales : HalfWith<HalfPipelineOf<HalfOtherScales>, 256> {
  static constexpr const char* kName = "w_exp/f16_wide+scales_of_other_block";
};
struct F16Unscaled : HalfWith<HalfUnscaled> {
  static constexpr const char* kName = "w_exp/f16+activations_unscaled";
};
struct F16TokensUnmasked : HalfWith<HalfTokensUnmasked> {
  static constexpr const char* kName = "w_exp/f16+tokens_unmasked";
};
struct F16Unswizzled : HalfWith<HalfOf<ActivationsThrough<Misread<Unswizzled, Qa8>>>> {
  static constexpr const char* kName = "w_exp/f16+qa8_unswizzled";
};
struct F16RowStride
    : KnownBad<HalfVariant<StoredCodes<WExp, CpAsync16, Misread<RowsAtPaddedStride, WExp>>,
                           HalfScales, 128>> {
  static constexpr const char* kName = "w_exp/f16+rows_at_padded_stride";
};
using BadHalf =
    VariantList<F16WaitsForOneLess, F16NoAsyncFence, F16NoPhase, F16NoBarrier, F16NoFence,
                F16NoWait, F16OneMoreInFlight, F16ReleasesFirst, F16NoRelease, F16OtherScales,
                F16OneScaleBuffer, F16WideOtherScales, F16Overlap, F16RowsUnmasked, F16NotRescaled,
                F16UnitsOfZero, F16Unscaled, F16TokensUnmasked, F16Unswizzled, F16RowStride>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
