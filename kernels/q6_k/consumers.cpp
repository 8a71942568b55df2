#include "kernels/q6_k/consumers.h"

#include "kernels/q6_k/registration.h"

namespace planegate::kernels::q6_k {

void register_consumers(Catalog& catalog) {
  for (ConsumerSpec& consumer :
       consumers(Variants{}, PLANEGATE_IF_CUDA(cuda_launches), PLANEGATE_IF_CUDA(cuda_kernels))) {
    catalog.add(std::move(consumer));
  }
}

}  // namespace planegate::kernels::q6_k
