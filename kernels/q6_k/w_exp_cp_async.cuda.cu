#include "kernels/q6_k/w_exp_cp_async.h"

planegate::LaunchFn planegate::kernels::q6_k::w_exp_cp_async_cuda() { return &launch<WExpCpAsync>; }
