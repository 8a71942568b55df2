#pragma once

#include <vector>

#include <planegate/core/specs.h>
#include <planegate/devices/device.h>

#include "kernels/q6_k/variants.h"

/// `launches` where nvcc made them, else null: nothing refers to what was not built.
#if PLANEGATE_HAVE_CUDA
#define PLANEGATE_IF_CUDA(launches) launches
#else
#define PLANEGATE_IF_CUDA(launches) nullptr
#endif

namespace planegate::kernels::q6_k {

/// The specs of a list of variants with their launches; `cuda` is the same list as nvcc made it,
/// null where there is none; so are their kernels, null as well where nobody asks for them.
template <class List>
std::vector<ConsumerSpec> consumers(List list, std::vector<LaunchFn> (*cuda)(),
                                    std::vector<std::vector<KernelEntry>> (*kernels)() = nullptr) {
  std::vector<ConsumerSpec> all = described(list);
  const std::vector<LaunchFn> host = launches(list);
  for (size_t i = 0; i < all.size(); ++i) all[i].launches = {{DeviceKind::kHost, host[i]}};
  if (cuda == nullptr) return all;
  const std::vector<LaunchFn> device = cuda();
  const std::vector<std::string> only = architectures(list);
  for (size_t i = 0; i < all.size(); ++i) {
    DeviceLaunch on{DeviceKind::kCuda, device[i], {}, only[i]};
    if (kernels != nullptr) on.kernels = kernels()[i];
    all[i].launches.push_back(std::move(on));
  }
  return all;
}

/// The same for a list of makers.
template <class List>
std::vector<DeviceProducerSpec> makers(List list, std::vector<MakeFn> (*cuda)()) {
  std::vector<DeviceProducerSpec> all = described(list);
  if (cuda == nullptr) return all;
  const std::vector<MakeFn> makes = cuda();
  for (size_t i = 0; i < all.size(); ++i) all[i].makes.emplace_back(DeviceKind::kCuda, makes[i]);
  return all;
}

}  // namespace planegate::kernels::q6_k
