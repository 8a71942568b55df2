#include "kernels/q6_k/known_bad/makers.h"

std::vector<planegate::MakeFn> planegate::kernels::q6_k::cuda_makers() {
  return makes(Makers{});
}

std::vector<planegate::MakeFn> planegate::kernels::q6_k::bad_makers_cuda() {
  return makes(BadMakers{});
}
