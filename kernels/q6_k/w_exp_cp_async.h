#pragma once

#include "kernels/q6_k/variant.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// w_exp by 16-byte asynchronous copies, zero-filled tail rows.
struct WExpCpAsync {
  static constexpr const char* kName = "w_exp/cp_async";
  using Codes = StoredCodes<formats::WExp, CpAsync16>;
  using Kernel = GemmS8<Codes, CpAsync16>;
};

}  // namespace PLANEGATE_SIMT_ABI

ConsumerSpec w_exp_cp_async();
LaunchFn w_exp_cp_async_cuda();

}  // namespace planegate::kernels::q6_k
