#include <algorithm>

#include <planegate/core/hash.h>
#include <planegate/core/specs.h>

namespace planegate {

uint32_t ConsumerSpec::instance() const {
  return static_cast<uint32_t>(fnv1a(name));
}

std::optional<std::string> ConsumerSpec::refusal(const Shape& shape) const {
  for (const Precondition& condition : preconditions) {
    if (!condition.holds(shape)) return condition.requirement;
  }
  return std::nullopt;
}

const DeviceLaunch* ConsumerSpec::on(DeviceKind device) const {
  const auto found = std::find_if(launches.begin(), launches.end(),
                                  [&](const DeviceLaunch& l) { return l.device == device; });
  return found == launches.end() ? nullptr : &*found;
}

const MakeFn* DeviceProducerSpec::on(DeviceKind device) const {
  const auto found = std::find_if(makes.begin(), makes.end(),
                                  [&](const auto& make) { return make.first == device; });
  return found == makes.end() ? nullptr : &found->second;
}

LaunchFn ConsumerSpec::launch_on(DeviceKind device) const {
  const DeviceLaunch* found = on(device);
  return found == nullptr ? nullptr : found->launch;
}

std::vector<KernelEntry> ConsumerSpec::kernels_on(DeviceKind device) const {
  const DeviceLaunch* found = on(device);
  return found == nullptr ? std::vector<KernelEntry>() : found->kernels;
}

std::string KernelEntry::name() const {
  const std::string whole = type.substr(0, type.find('<'));
  const size_t colon = whole.rfind(':');
  return colon == std::string::npos ? whole : whole.substr(colon + 1);
}

}  // namespace planegate
