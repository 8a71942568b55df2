#include "kernels/q6_k/known_bad/decoding.h"
#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/registration.h"

std::vector<planegate::ConsumerSpec> planegate::kernels::q6_k::bad_values() {
  return consumers(BadValues{}, PLANEGATE_IF_CUDA(bad_values_cuda));
}
