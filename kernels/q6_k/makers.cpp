#include "kernels/q6_k/makers.h"

#include "kernels/q6_k/known_bad/makers.h"
#include "kernels/q6_k/registration.h"

namespace planegate::kernels::q6_k {

void register_makers(Catalog& catalog) {
  for (DeviceProducerSpec& maker : makers(Makers{}, PLANEGATE_IF_CUDA(cuda_makers))) {
    catalog.add(std::move(maker));
  }
}

std::vector<DeviceProducerSpec> known_bad_makers() {
  return makers(BadMakers{}, PLANEGATE_IF_CUDA(bad_makers_cuda));
}

}  // namespace planegate::kernels::q6_k
