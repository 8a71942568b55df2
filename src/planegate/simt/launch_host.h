#pragma once

#include <deque>
#include <memory>

#include <planegate/core/errors.h>
#include <planegate/core/specs.h>
#include <planegate/simt/dialect.h>

namespace planegate::simt {
inline namespace host_abi {

/// Turns a device's buffers into the pointers that kernels use; owns what those refer to.
class Binder {
 public:
  explicit Binder(Device& device) : device_(dynamic_cast<HostDevice&>(device)) {}

  template <class T>
  GlobalPtr<T> pointer(const DeviceBuffer& buffer) {
    const std::span<std::byte> bytes = device_.resolve(buffer.address());
    regions_->push_back({bytes.data(), buffer.size_bytes(), buffer.name()});
    return {bytes.data(), &regions_->back()};
  }

  /// Appends the kernel to the device's stream.
  template <class Kernel>
  void launch(Grid grid, const typename Kernel::Args& args) {
    device_.enqueue([args, grid, regions = regions_, schedule = device_.schedule()] {
      run_grid({Kernel::kThreads, sizeof(typename Kernel::Shared), grid, schedule,
                [](const void* context) {
                  Kernel::run(*static_cast<const typename Kernel::Args*>(context),
                              SharedRef<typename Kernel::Shared>{});
                },
                &args});
    });
  }

 private:
  HostDevice& device_;
  std::shared_ptr<std::deque<Region>> regions_ = std::make_shared<std::deque<Region>>();
};

}  // namespace host_abi
}  // namespace planegate::simt
