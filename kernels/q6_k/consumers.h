#pragma once

#include <vector>

#include <planegate/core/catalog.h>

namespace planegate::kernels::q6_k {

/// Registers the q6_K consumers of variants.h with the launches of both devices, as far as both
/// were built.
void register_consumers(Catalog& catalog);

/// Consumers that are wrong on purpose, for `demo` and the tests: each is a registered consumer
/// with exactly one policy replaced. Never part of a catalog that verifies.
std::vector<ConsumerSpec> known_bad_consumers();

}  // namespace planegate::kernels::q6_k
