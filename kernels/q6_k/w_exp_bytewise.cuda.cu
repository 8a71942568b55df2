#include "kernels/q6_k/w_exp_bytewise.h"

planegate::LaunchFn planegate::kernels::q6_k::w_exp_bytewise_cuda() { return &launch<WExpBytewise>; }
