#include "kernels/q6_k/known_bad/half.h"

#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/registration.h"

std::vector<planegate::ConsumerSpec> planegate::kernels::q6_k::bad_half() {
  return consumers(BadHalf{}, PLANEGATE_IF_CUDA(bad_half_cuda));
}
