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
struct HalfWaitsForOneLess : FiveStages {
  static constexpr const char* kWhy = "one group of copies more may stay in flight";
  template <int kAhead>
  static PLANEGATE_DEVICE void arrived() {
    FiveStages::arrived<kAhead + 1>();
  }
};
struct HalfNoAsyncFence : FiveStages {
  static constexpr const char* kWhy = "no fence between copies and wgmma";
  template <int kAhead>
  static PLANEGATE_DEVICE void arrived() {
    simt::cp_async_wait<kAhead>();
    simt::sync_threads();
  }
};
struct HalfNoBarrier : FiveStages {
  static constexpr const char* kWhy = "no barrier behind the wait";
  template <int kAhead>
  static PLANEGATE_DEVICE void arrived() {
    simt::cp_async_wait<kAhead>();
    simt::fence_async();
  }
};
struct HalfNoFence : FiveStages {
  static constexpr const char* kWhy = "no wgmma_fence";
  static PLANEGATE_DEVICE void before_multiply() {}
};
struct HalfNoWait : FiveStages {
  static constexpr const char* kWhy = "products never waited for";
  template <int kOperands>
  static PLANEGATE_DEVICE void multiplied(const Words4 (&)[kOperands]) {}
};
struct HalfReleasesFirst : FiveStages {
  static constexpr const char* kWhy = "operands released before the wait";
  template <int kOperands>
  static PLANEGATE_DEVICE void multiplied(const Words4 (&operands)[kOperands]) {
    for (const Words4& a : operands) simt::wgmma_release(a);
    simt::wgmma_wait<0>();
  }
};
struct HalfNoRelease : FiveStages {
  static constexpr const char* kWhy = "operands not held until the wait";
  template <int kOperands>
  static PLANEGATE_DEVICE void multiplied(const Words4 (&)[kOperands]) {
    simt::wgmma_wait<0>();
  }
};
struct HalfOtherScales : FiveStages {
  static constexpr const char* kWhy = "scales of the other super-block";
  static PLANEGATE_DEVICE int scales_read_from(int block) { return (block + 1) % 2; }
};
struct HalfOneScaleBuffer : FiveStages {
  static constexpr const char* kWhy = "one buffer for the scales of both super-blocks";
  static PLANEGATE_DEVICE int scales_written_to(int) { return 0; }
  static PLANEGATE_DEVICE int scales_read_from(int) { return 0; }
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
template <class Policies>
using HalfWith = KnownBad<HalfVariant<StoredCodes<WExp, CpAsync16>, HalfScales, Policies>>;
template <class Pipeline>
using HalfPipelined = HalfWith<HalfPipelineOf<Pipeline>>;

struct F16WaitsForOneLess : HalfPipelined<HalfWaitsForOneLess> {
  static constexpr const char* kName = "w_exp/f16+wait_one_less";
};
struct F16NoAsyncFence : HalfPipelined<HalfNoAsyncFence> {
  static constexpr const char* kName = "w_exp/f16+no_fence_async";
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
                           HalfScales>> {
  static constexpr const char* kName = "w_exp/f16+rows_at_padded_stride";
};
using BadHalf =
    VariantList<F16WaitsForOneLess, F16NoAsyncFence, F16NoBarrier, F16NoFence, F16NoWait,
                F16ReleasesFirst, F16NoRelease, F16OtherScales, F16OneScaleBuffer, F16Overlap,
                F16RowsUnmasked, F16Unscaled, F16TokensUnmasked, F16Unswizzled, F16RowStride>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
