#pragma once

#include "kernels/q6_k/variant.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// w_exp, one byte at a time.
struct WExpBytewise {
  static constexpr const char* kName = "w_exp/bytewise";
  using Codes = StoredCodes<formats::WExp, Bytewise>;
  using Kernel = GemmS8<Codes, Bytewise>;
};

}  // namespace PLANEGATE_SIMT_ABI

ConsumerSpec w_exp_bytewise();
LaunchFn w_exp_bytewise_cuda();

}  // namespace planegate::kernels::q6_k
