#pragma once

#include "kernels/q6_k/known_bad/padded_address.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// As w_exp/copy16, with one policy replaced.
struct WExpCopy16Padded {
  static constexpr const char* kName = "w_exp/copy16+padded_address";
  using Codes = PaddedAddressCodes<Copy16>;
  using Kernel = GemmS8<Codes, Copy16>;
};

}  // namespace PLANEGATE_SIMT_ABI

ConsumerSpec w_exp_copy16_padded();
LaunchFn w_exp_copy16_padded_cuda();

}  // namespace planegate::kernels::q6_k
