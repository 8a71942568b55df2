#pragma once

#include <typeinfo>
#include <vector>

#include <planegate/core/demangle.h>
#include <planegate/core/specs.h>
#include <planegate/devices/cuda_device.h>
#include <planegate/simt/dialect.h>

namespace planegate::simt {
inline namespace cuda_abi {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, Kernel::kMinBlocks)
    kernel_entry(const __grid_constant__ typename Kernel::Args args) {
  __shared__ typename Kernel::Shared shared;
  Kernel::run(args, SharedRef<typename Kernel::Shared>(&shared));
}

template <class Kernel>
KernelEntry entry_of() {
  return {type_name(typeid(Kernel)), Kernel::kThreads, Kernel::kMinBlocks,
          reinterpret_cast<const void*>(&kernel_entry<Kernel>)};
}
template <class... Kernel>
std::vector<KernelEntry> entries_of(KernelList<Kernel...>) {
  return {entry_of<Kernel>()...};
}

/// Turns a device's buffers into the pointers that kernels use.
class Binder {
 public:
  explicit Binder(Device& device) : device_(dynamic_cast<CudaDevice&>(device)) {}

  template <class T>
  GlobalPtr<T> pointer(const DeviceBuffer& buffer) {
    return GlobalPtr<T>(reinterpret_cast<T*>(buffer.address()));
  }

  /// Appends the kernel to the device's stream. @throws CudaError for a refused launch.
  template <class Kernel>
  void launch(Grid grid, const typename Kernel::Args& args) {
    const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
    kernel_entry<Kernel><<<blocks, Kernel::kThreads, 0, device_.stream()>>>(args);
    PLANEGATE_CUDA_CHECK(cudaGetLastError());
  }

 private:
  CudaDevice& device_;
};

}  // namespace cuda_abi
}  // namespace planegate::simt
