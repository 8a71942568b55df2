#pragma once

#include "kernels/q6_k/variant.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// w_exp by 16-byte loads.
struct WExpCopy16 {
  static constexpr const char* kName = "w_exp/copy16";
  using Codes = StoredCodes<formats::WExp, Copy16>;
  using Kernel = GemmS8<Codes, Copy16>;
};

}  // namespace PLANEGATE_SIMT_ABI

ConsumerSpec w_exp_copy16();
LaunchFn w_exp_copy16_cuda();

}  // namespace planegate::kernels::q6_k
