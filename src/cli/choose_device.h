#pragma once

#include <memory>
#include <string>

#include <planegate/devices/device.h>

namespace planegate::cli {

/// The device that `auto`, `host` or `cuda` names.
/// @throws CommandError(kNothingVerified) for `cuda` where there is none, with the reason.
std::unique_ptr<Device> choose_device(const std::string& name);

}  // namespace planegate::cli
