#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/known_bad/small_batch.h"
#include "kernels/q6_k/registration.h"

std::vector<planegate::ConsumerSpec> planegate::kernels::q6_k::bad_shapes() {
  return consumers(BadShapes{}, PLANEGATE_IF_CUDA(bad_shapes_cuda));
}
