#pragma once

#include <cstdint>

/// What is compiled twice lives in an inline namespace per compiler: one name in source, two
/// symbols, so that the linker cannot take one compiler's body for the other's.
#if defined(__CUDACC__)
#define PLANEGATE_SIMT_ABI cuda_abi
#define PLANEGATE_DEVICE __device__ __forceinline__
#define PLANEGATE_UNROLL _Pragma("unroll")
#else
#define PLANEGATE_SIMT_ABI host_abi
#define PLANEGATE_DEVICE inline
#define PLANEGATE_UNROLL
#endif

namespace planegate::simt {

inline constexpr int kWarpLanes = 32;

/// The kernels of a launch, in their order.
template <class... Kernel>
struct KernelList {};

/// Blocks of a launch.
struct Grid {
  int64_t x = 1;
  int64_t y = 1;

  constexpr int64_t blocks() const { return x * y; }
};

}  // namespace planegate::simt
