#pragma once

#include "kernels/q6_k/known_bad/activation_addresses.h"

/// Copies that are not waited for, barriers that are missing, buffers that are mixed up.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

template <class Pipeline_>
struct PipelineOf : GemmPolicies {
  using Pipeline = Pipeline_;
  static std::vector<Policy> policies() { return {{"pipeline", Pipeline::kWhy}}; }
};
struct NeverWaits : TwoBuffers {
  static constexpr const char* kWhy = "cp.async never waited for";
  static PLANEGATE_DEVICE void before_multiply() { simt::sync_threads(); }
};
struct WaitsForOneGroupLess : TwoBuffers {
  static constexpr const char* kWhy = "two groups may stay in flight";
  static PLANEGATE_DEVICE void before_multiply() {
    simt::cp_async_wait<2>();
    simt::sync_threads();
  }
};
struct WaitsAfterBarrier : TwoBuffers {
  static constexpr const char* kWhy = "waits behind the barrier";
  static PLANEGATE_DEVICE void before_multiply() {
    simt::sync_threads();
    simt::cp_async_wait<1>();
  }
};
struct NeverCommits : TwoBuffers {
  static constexpr const char* kWhy = "copies never committed";
  static PLANEGATE_DEVICE void staged() {}
};
struct NoBarrierBefore : TwoBuffers {
  static constexpr const char* kWhy = "no barrier before the multiplication";
  static PLANEGATE_DEVICE void before_multiply() { simt::cp_async_wait<1>(); }
};
struct NoBarrierAfter : TwoBuffers {
  static constexpr const char* kWhy = "no barrier after the multiplication";
  static PLANEGATE_DEVICE void after_multiply() {}
};
struct ReadsOtherBuffer : TwoBuffers {
  static constexpr const char* kWhy = "multiplies the buffer that is being filled";
  static PLANEGATE_DEVICE int read_from(int step) { return (step + 1) % 2; }
};
struct OneBuffer : TwoBuffers {
  static constexpr const char* kWhy = "one buffer for both steps";
  static PLANEGATE_DEVICE int write_to(int) { return 0; }
  static PLANEGATE_DEVICE int read_from(int) { return 0; }
};
struct WarpBarriers : TwoBuffers {
  static constexpr const char* kWhy = "sync_warp for sync_threads";
  static PLANEGATE_DEVICE void before_multiply() {
    simt::cp_async_wait<1>();
    simt::sync_warp();
  }
};
/// Every buffer is read but the first again: as if a pipeline three deep had two buffers.
struct FirstBufferAgain : TwoBuffers {
  static constexpr const char* kWhy = "the buffer of the step before";
  static PLANEGATE_DEVICE int read_from(int step) { return step > 0 ? (step - 1) % 2 : 0; }
};

struct CpAsyncNeverWaits : WExpWith<CpAsync16, PipelineOf<NeverWaits>> {
  static constexpr const char* kName = "w_exp/cp_async+never_waits";
};
struct CpAsyncWaitsTwo : WExpWith<CpAsync16, PipelineOf<WaitsForOneGroupLess>> {
  static constexpr const char* kName = "w_exp/cp_async+wait_2";
};
struct CpAsyncWaitsAfter : WExpWith<CpAsync16, PipelineOf<WaitsAfterBarrier>> {
  static constexpr const char* kName = "w_exp/cp_async+wait_behind_barrier";
};
struct CpAsyncNeverCommits : WExpWith<CpAsync16, PipelineOf<NeverCommits>> {
  static constexpr const char* kName = "w_exp/cp_async+never_commits";
};
struct CpAsyncNoBarrierBefore : WExpWith<CpAsync16, PipelineOf<NoBarrierBefore>> {
  static constexpr const char* kName = "w_exp/cp_async+no_barrier_before";
};
struct CpAsyncNoBarrierAfter : WExpWith<CpAsync16, PipelineOf<NoBarrierAfter>> {
  static constexpr const char* kName = "w_exp/cp_async+no_barrier_after";
};
struct Copy16NoBarrierBefore : WExpWith<Copy16, PipelineOf<NoBarrierBefore>> {
  static constexpr const char* kName = "w_exp/copy16+no_barrier_before";
};
struct Copy16NoBarrierAfter : WExpWith<Copy16, PipelineOf<NoBarrierAfter>> {
  static constexpr const char* kName = "w_exp/copy16+no_barrier_after";
};
struct Copy16WarpBarriers : WExpWith<Copy16, PipelineOf<WarpBarriers>> {
  static constexpr const char* kName = "w_exp/copy16+warp_barrier";
};
struct CpAsyncOtherBuffer : WExpWith<CpAsync16, PipelineOf<ReadsOtherBuffer>> {
  static constexpr const char* kName = "w_exp/cp_async+other_buffer";
};
struct CpAsyncFirstAgain : WExpWith<CpAsync16, PipelineOf<FirstBufferAgain>> {
  static constexpr const char* kName = "w_exp/cp_async+buffer_of_step_before";
};
struct Copy16OneBuffer : WExpWith<Copy16, PipelineOf<OneBuffer>> {
  static constexpr const char* kName = "w_exp/copy16+one_buffer";
};

using BadPipelines = VariantList<CpAsyncNeverWaits, CpAsyncWaitsTwo, CpAsyncWaitsAfter,
                                 CpAsyncNeverCommits, CpAsyncNoBarrierBefore, CpAsyncNoBarrierAfter,
                                 Copy16NoBarrierBefore, Copy16NoBarrierAfter, Copy16WarpBarriers,
                                 CpAsyncOtherBuffer, CpAsyncFirstAgain, Copy16OneBuffer>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
