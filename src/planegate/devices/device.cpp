#include <utility>

#include <planegate/core/specs.h>
#include <planegate/devices/device.h>

namespace planegate {

DeviceBuffer::DeviceBuffer(Device& device, std::string name, DeviceAddress address,
                           int64_t size_bytes, std::byte guard_fill)
    : device_(&device),
      name_(std::move(name)),
      address_(address),
      size_bytes_(size_bytes),
      guard_fill_(guard_fill) {}

DeviceBuffer::~DeviceBuffer() {
  if (device_ != nullptr) device_->free(address_);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      name_(std::move(other.name_)),
      address_(std::exchange(other.address_, 0)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      guard_fill_(other.guard_fill_) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  if (this == &other) return *this;
  if (device_ != nullptr) device_->free(address_);
  device_ = std::exchange(other.device_, nullptr);
  name_ = std::move(other.name_);
  address_ = std::exchange(other.address_, 0);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  guard_fill_ = other.guard_fill_;
  return *this;
}

std::optional<std::string> Device::refusal(const ConsumerSpec& consumer) const {
  const DeviceLaunch* on = consumer.on(kind());
  if (on == nullptr) return "does not run on " + name();
  if (on->architecture.empty()) return std::nullopt;
  const auto lacking = lacks(on->architecture);
  if (!lacking) return std::nullopt;
  return "needs " + on->architecture + ", and " + *lacking;
}

std::optional<std::string> Device::lacks(const std::string&) const {
  return std::nullopt;
}

void Device::scan(const DeviceBuffer& from,
                  const std::function<void(std::span<const std::byte>)>& on_piece) {
  std::vector<std::byte> bytes(static_cast<size_t>(from.size_bytes()));
  read_back(from, bytes);
  synchronise();
  on_piece(bytes);
}

std::vector<std::optional<GuardBreach>> Device::breached_guards(
    std::span<const DeviceBuffer* const> buffers) {
  std::vector<std::optional<GuardBreach>> breaches;
  for (const DeviceBuffer* buffer : buffers) breaches.push_back(breached_guard(*buffer));
  return breaches;
}

}  // namespace planegate
