#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/known_bad/small_batch.h"

std::vector<planegate::LaunchFn> planegate::kernels::q6_k::bad_shapes_cuda() {
  return launches(BadShapes{});
}
