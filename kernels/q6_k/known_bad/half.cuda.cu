#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/known_bad/half.h"

std::vector<planegate::LaunchFn> planegate::kernels::q6_k::bad_half_cuda() {
  return launches(BadHalf{});
}
