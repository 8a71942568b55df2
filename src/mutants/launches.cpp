#include "mutants/launches.h"

#include <planegate/core/errors.h>

namespace planegate::mutants {

void wrap_launch(Catalog& catalog, const std::string& consumer, const Wrapped& wrapped) {
  const ConsumerSpec* registered = catalog.consumer(consumer);
  if (registered == nullptr) throw ContractError("consumer", consumer, "registered");
  ConsumerSpec changed = *registered;
  for (DeviceLaunch& on : changed.launches) {
    on.launch = [wrapped, good = on.launch](Device& device, const LaunchRequest& request) {
      wrapped(device, request, good);
    };
  }
  catalog.replace(std::move(changed));
}

void launch_on_bytes(Device& device, const LaunchRequest& request, const LaunchFn& good,
                     std::span<const std::byte> bytes) {
  const BoundPlane& plane = request.planes.front();
  const DeviceBuffer other = device.allocate("other", plane.buffer->size_bytes());
  device.upload(other, bytes);
  LaunchRequest changed = request;
  changed.planes.front().buffer = &other;
  good(device, changed);
  device.synchronise();
}

}  // namespace planegate::mutants
