#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/known_bad/launches.h"
#include "kernels/q6_k/registration.h"

std::vector<planegate::ConsumerSpec> planegate::kernels::q6_k::bad_execution() {
  return consumers(BadExecution{}, PLANEGATE_IF_CUDA(bad_execution_cuda));
}
