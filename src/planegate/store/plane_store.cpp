#include <utility>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/store/plane_store.h>

namespace planegate {
namespace {

DeviceBuffer uploaded(Device& device, const std::string& name, const Contract& contract,
                      const Shape& shape, std::span<const std::byte> bytes, std::byte guard_fill) {
  const int64_t size_bytes = contract.size_bytes(shape);
  require(std::ssize(bytes) == size_bytes, "bytes.size()", std::ssize(bytes),
          fmt::format("{} bytes of {} at {}", size_bytes, name, shape.text()));
  DeviceBuffer buffer = device.allocate(name, size_bytes, guard_fill);
  device.upload(buffer, bytes);
  return buffer;
}

std::string plane_name(const std::string& tensor, const Contract& contract) {
  return tensor + "/" + contract.name;
}

}  // namespace

const StoredPlane& PlaneStore::add(const std::string& tensor, const Contract& contract,
                                   const Shape& shape, std::span<const std::byte> bytes,
                                   std::byte guard_fill) {
  const Key key{tensor, contract.name};
  const std::string name = plane_name(tensor, contract);
  if (planes_.count(key) != 0) throw ContractError("plane", name, "already registered");
  std::optional<DeviceBuffer> buffer;
  try {
    buffer = uploaded(device_, name, contract, shape, bytes, guard_fill);
  } catch (const DeviceOutOfMemory& error) {
    missing_[key] = error.what();
    throw;
  }
  StoredPlane plane{&contract, shape, std::move(*buffer), 0};
  uint32_t& generation = generations_[key];
  plane.generation = generation + 1;
  const StoredPlane& stored = planes_.emplace(key, std::move(plane)).first->second;
  ++generation;
  missing_.erase(key);
  return stored;
}

const StoredPlane& PlaneStore::replace(const std::string& tensor, const Contract& contract,
                                       const Shape& shape, std::span<const std::byte> bytes,
                                       std::byte guard_fill) {
  const auto found = planes_.find({tensor, contract.name});
  const std::string name = plane_name(tensor, contract);
  if (found == planes_.end()) throw ContractError("plane", name, "not registered");
  DeviceBuffer buffer = uploaded(device_, name, contract, shape, bytes, guard_fill);
  const uint32_t generation = ++generations_[found->first];
  found->second = StoredPlane{&contract, shape, std::move(buffer), generation};
  return found->second;
}

void PlaneStore::remove(const std::string& tensor, const Contract& contract) {
  if (planes_.erase({tensor, contract.name}) == 0) {
    throw ContractError("plane", plane_name(tensor, contract), "not registered");
  }
}

const StoredPlane* PlaneStore::find(const std::string& tensor, const Contract& contract) const {
  const auto found = planes_.find({tensor, contract.name});
  return found == planes_.end() ? nullptr : &found->second;
}

const std::string* PlaneStore::why_missing(const std::string& tensor,
                                           const Contract& contract) const {
  const auto found = missing_.find({tensor, contract.name});
  return found == missing_.end() ? nullptr : &found->second;
}

}  // namespace planegate
