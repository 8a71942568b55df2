#pragma once

#include "kernels/q6_k/known_bad/padded_address.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// As w_exp/bytewise, with one policy replaced.
struct WExpBytewisePadded {
  static constexpr const char* kName = "w_exp/bytewise+padded_address";
  using Codes = PaddedAddressCodes<Bytewise>;
  using Kernel = GemmS8<Codes, Bytewise>;
};

}  // namespace PLANEGATE_SIMT_ABI

ConsumerSpec w_exp_bytewise_padded();
LaunchFn w_exp_bytewise_padded_cuda();

}  // namespace planegate::kernels::q6_k
