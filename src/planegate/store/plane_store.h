#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include <planegate/core/specs.h>
#include <planegate/devices/device.h>

namespace planegate {

/// Of a name that is registered for the first time.
inline constexpr uint32_t kFirstGeneration = 1;

/// A registered plane: its device buffer and how often this name has been registered.
struct StoredPlane {
  const Contract* contract = nullptr;
  Shape shape{1, 1};
  DeviceBuffer buffer;
  uint32_t generation = kFirstGeneration;

  BoundPlane bound() const { return {contract, &buffer, generation}; }
};

/// The planes of a device, by tensor and contract.
///
/// Registering a name twice is an error, or a new generation on purpose; never silence.
class PlaneStore {
 public:
  explicit PlaneStore(Device& device) : device_(device) {}

  /// Allocates, uploads and registers. The buffer is named `tensor/plane`.
  /// @pre bytes.size() == contract.size_bytes(shape)
  /// @throws ContractError when (tensor, plane) is registered or a size is wrong; nothing is then
  /// registered or replaced. DeviceOutOfMemory likewise, and why_missing() keeps its text.
  const StoredPlane& add(const std::string& tensor, const Contract& contract, const Shape& shape,
                         std::span<const std::byte> bytes, std::byte guard_fill = std::byte{0xA5});
  /// The same for a name that is registered already, whatever its shape: generation + 1.
  /// @throws ContractError when it is not registered.
  const StoredPlane& replace(const std::string& tensor, const Contract& contract,
                             const Shape& shape, std::span<const std::byte> bytes,
                             std::byte guard_fill = std::byte{0xA5});
  void remove(const std::string& tensor, const Contract& contract);

  /// Null when the tensor has no such plane.
  const StoredPlane* find(const std::string& tensor, const Contract& contract) const;

  /// Why the plane is not there although it was to be added; null when nobody tried.
  const std::string* why_missing(const std::string& tensor, const Contract& contract) const;

  Device& device() const { return device_; }

 private:
  using Key = std::pair<std::string, std::string>;

  Device& device_;
  std::map<Key, StoredPlane> planes_;
  std::map<Key, uint32_t> generations_;
  std::map<Key, std::string> missing_;
};

}  // namespace planegate
