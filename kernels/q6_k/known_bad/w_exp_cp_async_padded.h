#pragma once

#include "kernels/q6_k/known_bad/padded_address.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// As w_exp/cp_async, with one policy replaced.
struct WExpCpAsyncPadded {
  static constexpr const char* kName = "w_exp/cp_async+padded_address";
  using Codes = PaddedAddressCodes<CpAsync16>;
  using Kernel = GemmS8<Codes, CpAsync16>;
};

}  // namespace PLANEGATE_SIMT_ABI

ConsumerSpec w_exp_cp_async_padded();
LaunchFn w_exp_cp_async_padded_cuda();

}  // namespace planegate::kernels::q6_k
