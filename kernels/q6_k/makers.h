#pragma once

#include <vector>

#include <planegate/core/catalog.h>

namespace planegate::kernels::q6_k {

/// Registers the device's own producers of w_exp and w_dsc (make_planes.h) with the launches of
/// both devices, as far as both were built.
void register_makers(Catalog& catalog);

/// Producers that are wrong on purpose, each with one policy replaced; names as of the right ones
/// plus what is wrong: `w_exp from raw+tail_unmasked`. Never part of a catalog that verifies.
std::vector<DeviceProducerSpec> known_bad_makers();

}  // namespace planegate::kernels::q6_k
