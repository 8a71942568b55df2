#include "kernels/q6_k/w_exp_copy16.h"

planegate::LaunchFn planegate::kernels::q6_k::w_exp_copy16_cuda() { return &launch<WExpCopy16>; }
