#include "kernels/q6_k/variants.h"

std::vector<planegate::LaunchFn> planegate::kernels::q6_k::cuda_launches() {
  return launches(Variants{});
}
