#include "kernels/q6_k/known_bad/w_exp_bytewise_padded.h"

planegate::LaunchFn planegate::kernels::q6_k::w_exp_bytewise_padded_cuda() {
  return &launch<WExpBytewisePadded>;
}
