#include "kernels/q6_k/known_bad/variants.h"

std::vector<planegate::LaunchFn> planegate::kernels::q6_k::known_bad_cuda_launches() {
  return launches(KnownBadVariants{});
}
