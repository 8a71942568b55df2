#include "kernels/q6_k/raw_expand.h"

planegate::LaunchFn planegate::kernels::q6_k::raw_expand_cuda() { return &launch<RawExpand>; }
