#pragma once

#include "kernels/q6_k/variant.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// The control arm: raw blocks, expanded bytewise in the kernel.
struct RawExpand {
  static constexpr const char* kName = "raw/expand";
  using Codes = ExpandedCodes<formats::Raw>;
  using Kernel = GemmS8<Codes, Copy16>;
};

}  // namespace PLANEGATE_SIMT_ABI

ConsumerSpec raw_expand();
LaunchFn raw_expand_cuda();

}  // namespace planegate::kernels::q6_k
