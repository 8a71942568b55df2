#pragma once

#include <typeinfo>
#include <vector>

#include <planegate/core/demangle.h>
#include <planegate/core/specs.h>
#include <planegate/devices/cuda_device.h>
#include <planegate/simt/dialect.h>

namespace planegate::simt {
inline namespace cuda_abi {

/// What lies beyond the 48 KiB that a kernel may declare is asked for at launch; then all of it is.
template <class Kernel>
__host__ __device__ constexpr int dynamic_shared_bytes() {
  constexpr int bytes = sizeof(typename Kernel::Shared);
  return bytes > 48 * 1024 ? bytes : 0;
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, Kernel::kMinBlocks)
    kernel_entry(const __grid_constant__ typename Kernel::Args args) {
  using Shared = typename Kernel::Shared;
  if constexpr (dynamic_shared_bytes<Kernel>() > 0) {
    extern __shared__ __align__(1024) std::byte dynamic_shared[];
    Kernel::run(args, SharedRef<Shared>(reinterpret_cast<Shared*>(dynamic_shared)));
  } else {
    __shared__ Shared shared;
    Kernel::run(args, SharedRef<Shared>(&shared));
  }
}

template <class Kernel>
KernelEntry entry_of() {
  return {type_name(typeid(Kernel)), Kernel::kThreads, Kernel::kMinBlocks,
          dynamic_shared_bytes<Kernel>(), reinterpret_cast<const void*>(&kernel_entry<Kernel>)};
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

  /// Appends the kernel to the device's stream. @throws DeviceError for a refused launch.
  template <class Kernel>
  void launch(Grid grid, const typename Kernel::Args& args) {
    const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
    constexpr int shared = dynamic_shared_bytes<Kernel>();
    if constexpr (shared > 0) {
      PLANEGATE_CUDA_CHECK(cudaFuncSetAttribute(
          kernel_entry<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    }
    kernel_entry<Kernel><<<blocks, Kernel::kThreads, shared, device_.stream()>>>(args);
    PLANEGATE_CUDA_CHECK(cudaGetLastError());
  }

 private:
  CudaDevice& device_;
};

}  // namespace cuda_abi
}  // namespace planegate::simt
