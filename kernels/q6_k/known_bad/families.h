#pragma once

#include <vector>

#include <planegate/core/specs.h>

/// The known-bad consumers by family, each made by a source of its own; the cuda launches are
/// those of the same lists, as nvcc made them.
namespace planegate::kernels::q6_k {

std::vector<ConsumerSpec> bad_addresses();
std::vector<LaunchFn> bad_addresses_cuda();
/// Orders and decoding.
std::vector<ConsumerSpec> bad_values();
std::vector<LaunchFn> bad_values_cuda();
/// Tails, split K and small batches.
std::vector<ConsumerSpec> bad_shapes();
std::vector<LaunchFn> bad_shapes_cuda();
/// Pipelines and launches.
std::vector<ConsumerSpec> bad_execution();
std::vector<LaunchFn> bad_execution_cuda();
/// The f16 path.
std::vector<ConsumerSpec> bad_half();
std::vector<LaunchFn> bad_half_cuda();
/// Host only.
std::vector<ConsumerSpec> bad_alignment();

}  // namespace planegate::kernels::q6_k
