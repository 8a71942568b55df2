#include "kernels/q6_k/known_bad/addresses.h"

#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/registration.h"

std::vector<planegate::ConsumerSpec> planegate::kernels::q6_k::bad_addresses() {
  return consumers(BadAddresses{}, PLANEGATE_IF_CUDA(bad_addresses_cuda));
}
