#pragma once

#include <planegate/core/errors.h>
#include <planegate/core/specs.h>
#include <planegate/simt/plane_ptr.h>

#if defined(__CUDACC__)
#include <planegate/simt/launch_cuda.h>
#else
#include <planegate/simt/launch_host.h>
#endif

/// From a launch request to a kernel's arguments: the same source for both devices.
namespace planegate::simt {
inline namespace PLANEGATE_SIMT_ABI {

/// The plane of the request that was written under `ContractTag`.
/// @throws ContractError when the request holds no plane of exactly this contract.
template <class ContractTag>
const BoundPlane& requested(const LaunchRequest& request) {
  const Contract& contract = describe<ContractTag>();
  for (const BoundPlane& plane : request.planes) {
    if (plane.contract == &contract) return plane;
    // The hash covers the name, and takes longer than a small launch.
    if (plane.contract->name == contract.name && plane.contract->hash() == contract.hash()) {
      return plane;
    }
  }
  throw ContractError("planes", contract.name, "a plane of this contract in the request");
}

/// @throws ContractError when `plane` is not of exactly this contract, or its buffer not of its
/// size.
template <class ContractTag>
void require_contract(const char* name, const BoundPlane& plane, const Shape& shape) {
  const Contract& contract = describe<ContractTag>();
  if (plane.contract->name != contract.name || plane.contract->hash() != contract.hash()) {
    throw ContractError(name, plane.contract->name, "a plane of contract " + contract.name);
  }
  require(plane.buffer->size_bytes() == contract.size_bytes(shape), name,
          plane.buffer->size_bytes(),
          std::to_string(contract.size_bytes(shape)) + " bytes at this shape");
}

/// The front door: a plane read through its own contract.
template <class ContractTag>
PlanePtr<ContractTag> bind_plane(const LaunchRequest& request, Binder& binder) {
  const BoundPlane& plane = requested<ContractTag>(request);
  return {binder.pointer<const std::byte>(*plane.buffer), request.shape};
}

/// The back door, for known-bad arms alone: the plane of `ContractTag` read as if it had been
/// written under `OtherTag`.
template <class OtherTag, class ContractTag>
PlanePtr<OtherTag> misbind_plane(const LaunchRequest& request, Binder& binder) {
  const BoundPlane& plane = requested<ContractTag>(request);
  return {binder.pointer<const std::byte>(*plane.buffer), request.shape};
}

/// The source of a transform, written under `ContractTag`; a known-bad one reads it as `AsTag`.
/// @throws ContractError when it is a plane of another contract.
template <class ContractTag, class AsTag = ContractTag>
PlanePtr<AsTag> bind_source(const MakeRequest& request, Binder& binder) {
  require_contract<ContractTag>("source", request.source, request.shape);
  return {binder.pointer<const std::byte>(*request.source.buffer), request.shape};
}

/// The plane that a transform makes. @throws ContractError likewise.
template <class ContractTag>
PlanePtr<ContractTag, std::byte> bind_made(const MakeRequest& request, Binder& binder) {
  require_contract<ContractTag>("made", request.made, request.shape);
  return {binder.pointer<std::byte>(*request.made.buffer), request.shape};
}

/// What every block of a launch stamps; `block` is filled in by the block.
inline Words4 stamp_words(uint32_t instance, const BoundPlane& codes) {
  return {{instance, codes.generation, static_cast<uint32_t>(codes.contract->hash()), 0}};
}

/// Checks the buffers of a request against the spec, before any launch.
/// @throws ContractError when output, stamps or workspace have the wrong size.
inline void require_sizes(const ConsumerSpec& consumer, const LaunchRequest& request) {
  const auto require_size = [](const char* name, const DeviceBuffer* buffer, int64_t bytes) {
    const int64_t have = buffer == nullptr ? 0 : buffer->size_bytes();
    require(have == bytes, name, have, std::to_string(bytes) + " bytes at this shape");
  };
  const Shape& shape = request.shape;
  require_size("y", request.y, shape.nt() * shape.od() * int64_t{sizeof(float)});
  if (request.stamps != nullptr) {
    require_size("stamps", request.stamps, consumer.blocks(shape) * int64_t{sizeof(Stamp)});
  }
  if (consumer.workspace_bytes != nullptr) {
    require_size("workspace", request.workspace, consumer.workspace_bytes(shape));
  }
}

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::simt
