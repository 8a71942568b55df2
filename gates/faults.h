#pragma once

#include <memory>
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

/// A device of `kind` that flips one bit of the `nth` upload to a buffer named `buffer`; all others
/// are clean. Null with the reason when there is no such device.
std::unique_ptr<Device> make_flipping_device(DeviceKind kind, std::string buffer, BitFlip flip,
                                             std::string& why_not, int nth = 1);

}  // namespace planegate::gates
