#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include <planegate/core/specs.h>
#include <planegate/devices/device.h>

/// Planted faults: what `demo` shows and the kill matrix counts. Each breaks exactly one stage.
namespace planegate::gates {

/// One bit of a plane.
struct BitFlip {
  int64_t byte = 0;
  int bit = 0;
};

/// `producer` with one bit of its output flipped.
ProducerSpec flipping(const ProducerSpec& producer, BitFlip flip);

/// One copy between host and device.
struct Transfer {
  const std::string& buffer;
  int nth;  ///< how many copies in this direction buffers of that name have had, this one counted
  std::span<std::byte> bytes;  ///< of a copy of the caller's bytes, or of the read-back's target
};

/// What a device does wrong with some of its buffers; what is empty is done right.
struct Tampering {
  std::string buffer;  ///< a part of the names it applies to: `sample.weight/w_exp`, `/w_exp`
  /// Changes what is uploaded; in an untouched buffer stands kPoison.
  std::function<void(const Transfer&)> upload = {};
  /// Changes what a read-back has brought, once it has landed.
  std::function<void(const Transfer&)> read_back = {};
  /// The first upload goes into the buffer of this name, the first read-back comes from there.
  /// @pre it is of equal size
  std::string upload_into = {}, read_back_from = {};
  /// Bytes that are allocated where so many were asked for.
  std::function<int64_t(int64_t size_bytes)> allocate = {};
};

/// A device of `kind` with that fault. Null with the reason when there is no such device.
std::unique_ptr<Device> make_tampering_device(DeviceKind kind, Tampering tampering,
                                              std::string& why_not);

/// A device of `kind` that flips one bit of the `nth` upload to a buffer named `buffer`; all others
/// are clean. Null with the reason when there is no such device.
std::unique_ptr<Device> make_flipping_device(DeviceKind kind, std::string buffer, BitFlip flip,
                                             std::string& why_not, int nth = 1);

}  // namespace planegate::gates
