#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/known_bad/launches.h"

std::vector<planegate::LaunchFn> planegate::kernels::q6_k::bad_execution_cuda() {
  return launches(BadExecution{});
}
