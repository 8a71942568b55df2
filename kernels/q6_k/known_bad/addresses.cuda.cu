#include "kernels/q6_k/known_bad/addresses.h"
#include "kernels/q6_k/known_bad/families.h"

std::vector<planegate::LaunchFn> planegate::kernels::q6_k::bad_addresses_cuda() {
  return launches(BadAddresses{});
}
