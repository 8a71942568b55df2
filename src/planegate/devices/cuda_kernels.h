#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cuda_runtime.h>

/// The device's own small kernels: many little operations in one launch. None of them is under
/// test; each returns what the launch said.
namespace planegate::device_kernels {

inline constexpr size_t kMaxFills = 64;
inline constexpr size_t kMaxGathers = 64;
inline constexpr size_t kMaxZones = 128;

/// bytes [at, at + bytes) become `value`.
struct Fill {
  std::byte* at = nullptr;
  int64_t bytes = 0;
  uint8_t value = 0;
};

/// bytes [from, from + bytes) are copied to byte `to` of the staging buffer.
/// @pre `from` and `to` are multiples of 16.
struct Gather {
  const std::byte* from = nullptr;
  int64_t bytes = 0;
  int64_t to = 0;
};

/// A guard zone: kGuardBytes from `at` on must hold `fill`.
struct Zone {
  const std::byte* at = nullptr;
  uint8_t fill = 0;
};

/// The first byte of a zone that differs, kIntact where none does, and what it holds.
struct ZoneResult {
  static constexpr uint32_t kIntact = 0xFFFFFFFFu;
  uint32_t first = kIntact;
  uint32_t value = 0;
};

/// @pre at most kMaxFills, none overlaps another
cudaError_t launch_fills(std::span<const Fill> fills, cudaStream_t stream);
/// @pre at most kMaxGathers
cudaError_t launch_gathers(std::span<const Gather> gathers, std::byte* staging,
                           cudaStream_t stream);
/// results: device memory, zones.size() of them. @pre at most kMaxZones
cudaError_t launch_zones(std::span<const Zone> zones, ZoneResult* results, cudaStream_t stream);

/// How many cycles of an SM passed in how many nanoseconds, over about half a millisecond.
struct Spun {
  uint64_t cycles = 0, nanoseconds = 0;
};
cudaError_t launch_spin(Spun* spun, cudaStream_t stream);

/// What the kernel beside says: words in pinned memory.
struct CompanySigns {
  uint32_t started = 0;  ///< epoch, once its first block runs
  uint32_t ended = 0;    ///< epoch, once it was told to end; it ends by itself after a while
};
/// `blocks` blocks read and write `scratch` (256 words a block) until `*stop` holds `epoch` in each
/// byte, or kCompanyNanoseconds have passed.
inline constexpr uint64_t kCompanyNanoseconds = 100'000'000;
cudaError_t launch_company(int blocks, uint32_t epoch, const uint32_t* stop, uint32_t* scratch,
                           CompanySigns* signs, cudaStream_t stream);

}  // namespace planegate::device_kernels
