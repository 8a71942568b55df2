#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>

#include <cuda_runtime.h>

#include <planegate/devices/device.h>

namespace planegate {

/// A CUDA runtime call failed.
///
/// Text: `cudaMalloc(&base, bytes): cudaErrorMemoryAllocation: out of memory
/// (cuda_device.cpp:88, device 0)`, in one line.
class CudaError : public DeviceError {
 public:
  CudaError(cudaError_t code, const char* call, const char* file, int line);

  cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

namespace detail {
void check_cuda(cudaError_t code, const char* call, const char* file, int line);
void record_cuda(cudaError_t code, const char* call, const char* file, int line) noexcept;
}  // namespace detail

/// Throws CudaError unless the call returned cudaSuccess; clears the runtime's last error.
#define PLANEGATE_CUDA_CHECK(call) \
  ::planegate::detail::check_cuda((call), #call, __FILE__, __LINE__)
/// The noexcept twin, for cleanup: records for take_cuda_cleanup_error().
#define PLANEGATE_CUDA_RECORD(call) \
  ::planegate::detail::record_cuda((call), #call, __FILE__, __LINE__)

/// The text of the first failure that cleanup has met since the last call; empty when none.
std::string take_cuda_cleanup_error();

/// The first CUDA device: one stream, a ring of pinned chunks for both directions.
///
/// A read-back lands in its target when the ring needs its chunk or at synchronise(); where the
/// stream has failed it never lands. The chunks are pinned on first use.
class CudaDevice : public Device {
 public:
  static constexpr int64_t kChunkBytes = int64_t{8} << 20;
  static constexpr int kChunks = 4;

  /// @throws CudaError when `ordinal` is no usable device.
  explicit CudaDevice(int ordinal = 0);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  DeviceKind kind() const override { return DeviceKind::kCuda; }
  std::string name() const override { return "cuda"; }
  std::string description() const override { return description_; }

  DeviceBuffer allocate(std::string name, int64_t size_bytes,
                        std::byte guard_fill = std::byte{0xA5}) override;
  void fill(const DeviceBuffer& to, std::byte value) override;
  void upload(const DeviceBuffer& to, std::span<const std::byte> from) override;
  void read_back(const DeviceBuffer& from, std::span<std::byte> to) override;
  void synchronise() override;
  std::optional<GuardBreach> breached_guard(const DeviceBuffer& buffer) override;

  /// Where kernels of this device are launched.
  cudaStream_t stream() const { return stream_; }

 protected:
  void free(DeviceAddress address) noexcept override;

 private:
  /// A pinned chunk. `target` is where a read-back lands; empty for an upload.
  struct Chunk {
    std::byte* pinned = nullptr;
    cudaEvent_t landed = nullptr;
    std::span<std::byte> target;
  };

  void select() const;
  void require_own(const DeviceBuffer& buffer) const;
  /// The next chunk of the ring, waited for and landed.
  Chunk& acquire();
  void copy_out(DeviceAddress from, std::span<std::byte> to);
  static void land(Chunk& chunk);
  /// After a failure: targets may be gone when the caller has unwound.
  void drop_landings();

  int ordinal_;
  std::string description_;
  cudaStream_t stream_ = nullptr;
  std::array<Chunk, kChunks> ring_{};
  size_t next_chunk_ = 0;
  std::map<DeviceAddress, int64_t> live_;
};

}  // namespace planegate
