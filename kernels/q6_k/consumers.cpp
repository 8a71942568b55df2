#include "kernels/q6_k/consumers.h"

#include "kernels/q6_k/known_bad/variants.h"

namespace planegate::kernels::q6_k {
namespace {

template <class List>
std::vector<ConsumerSpec> consumers(List list, [[maybe_unused]] std::vector<LaunchFn> (*cuda)()) {
  std::vector<ConsumerSpec> all = described(list);
  const std::vector<LaunchFn> host = launches(list);
  for (size_t i = 0; i < all.size(); ++i) all[i].launches = {{DeviceKind::kHost, host[i]}};
#if PLANEGATE_HAVE_CUDA
  const std::vector<LaunchFn> device = cuda();
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].launches.push_back({DeviceKind::kCuda, device[i]});
  }
#endif
  return all;
}

}  // namespace

void register_consumers(Catalog& catalog) {
  for (ConsumerSpec& consumer : consumers(Variants{}, cuda_launches)) {
    catalog.add(std::move(consumer));
  }
}

std::vector<ConsumerSpec> known_bad_consumers() {
  return consumers(KnownBadVariants{}, known_bad_cuda_launches);
}

}  // namespace planegate::kernels::q6_k
