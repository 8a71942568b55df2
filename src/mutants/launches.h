#pragma once

#include <functional>
#include <span>
#include <string>

#include <planegate/core/catalog.h>
#include <planegate/devices/device.h>

#include "gates/kill_matrix.h"

/// Launchers that do something else on the way to a good kernel.
namespace planegate::mutants {

/// Launches in place of `good`, the registered launch on the same device.
using Wrapped =
    std::function<void(Device& device, const LaunchRequest& request, const LaunchFn& good)>;

/// Replaces the launches of `consumer` on all devices.
/// @throws ContractError when there is no such consumer.
void wrap_launch(Catalog& catalog, const std::string& consumer, const Wrapped& wrapped);

/// Launches `good` with the first plane of the request replaced by a fresh buffer of `bytes`, and
/// waits for it.
void launch_on_bytes(Device& device, const LaunchRequest& request, const LaunchFn& good,
                     std::span<const std::byte> bytes);

/// The parts of upload_arms() and dispatch_arms().
std::vector<gates::Arm> registration_arms();
std::vector<gates::Arm> mirror_arms();

}  // namespace planegate::mutants
