#include "kernels/q6_k/known_bad/decoding.h"
#include "kernels/q6_k/known_bad/families.h"

std::vector<planegate::LaunchFn> planegate::kernels::q6_k::bad_values_cuda() {
  return launches(BadValues{});
}
