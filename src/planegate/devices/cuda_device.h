#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include <planegate/devices/cuda_kernels.h>
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

/// Whether no call of this process succeeds after `code`: the runtime's documentation says so.
bool loses_device(cudaError_t code);

/// Unless the call returned cudaSuccess throws DeviceLost for what loses_device(), else CudaError;
/// clears the runtime's last error.
#define PLANEGATE_CUDA_CHECK(call) \
  ::planegate::detail::check_cuda((call), #call, __FILE__, __LINE__)
/// The noexcept twin, for cleanup: records for take_cuda_cleanup_error().
#define PLANEGATE_CUDA_RECORD(call) \
  ::planegate::detail::record_cuda((call), #call, __FILE__, __LINE__)

/// The text of the first failure that cleanup has met since the last call; empty when none.
std::string take_cuda_cleanup_error();

class CudaCompany;

/// The first CUDA device: one stream, a ring of pinned chunks for both directions.
///
/// A read-back lands in its target when the ring needs its chunk or at synchronise(); where the
/// stream has failed it never lands. The chunks are pinned on first use: kChunks * kChunkBytes is
/// the most that is ever pinned.
///
/// Small fills and read-backs are collected and sent as one kernel before the next other work in
/// stream order; stream() sends them. Memory that was freed is kept for the next buffer of its size
/// (sizes up to a megabyte are rounded up by an eighth at most), up to kKeptBytes.
class CudaDevice : public Device {
 public:
  static constexpr int64_t kChunkBytes = int64_t{2} << 20;
  static constexpr int kChunks = 16;
  static constexpr int64_t kKeptBytes = int64_t{256} << 20;
  /// A read-back up to this size is gathered with others: one copy for all.
  static constexpr int64_t kSmallBytes = int64_t{256} << 10;

  /// @throws CudaError when `ordinal` is no usable device.
  explicit CudaDevice(int ordinal = 0);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  DeviceKind kind() const override { return DeviceKind::kCuda; }
  std::string name() const override { return "cuda"; }
  std::string description() const override { return description_; }
  std::string driver() const override;
  std::optional<DeviceMemory> memory() override;
  std::optional<KernelAttributes> attributes_of(const KernelEntry& kernel) override;

  DeviceBuffer allocate(std::string name, int64_t size_bytes,
                        std::byte guard_fill = std::byte{0xA5}) override;
  void fill(const DeviceBuffer& to, std::byte value) override;
  void upload(const DeviceBuffer& to, std::span<const std::byte> from) override;
  void read_back(const DeviceBuffer& from, std::span<std::byte> to) override;
  /// Pieces of kChunkBytes, as they stand in pinned memory; while one is looked at the next kChunks
  /// are under way.
  void scan(const DeviceBuffer& from,
            const std::function<void(std::span<const std::byte>)>& on_piece) override;
  void synchronise() override;
  std::optional<GuardBreach> breached_guard(const DeviceBuffer& buffer) override;
  std::vector<std::optional<GuardBreach>> breached_guards(
      std::span<const DeviceBuffer* const> buffers) override;
  double timed_s(const std::function<void()>& work) override;
  std::optional<double> clock_hz() override;
  void start_company() override;
  bool end_company() override;

  /// Where kernels of this device are launched. Sends what was collected first.
  cudaStream_t stream();

 protected:
  std::optional<std::string> lacks(const std::string& architecture) const override;
  void free(DeviceAddress address) noexcept override;

 private:
  static constexpr int64_t kStagingBytes = int64_t{1} << 20;
  static constexpr size_t kZonesBytes =
      device_kernels::kMaxZones * sizeof(device_kernels::ZoneResult);

  /// Where bytes of a pinned chunk land.
  struct Landing {
    int64_t at = 0;
    std::span<std::byte> target;
  };
  /// A pinned chunk; without landings it is free or belongs to an upload.
  struct Chunk {
    std::byte* pinned = nullptr;
    cudaEvent_t landed = nullptr;
    std::vector<Landing> landings;
  };

  void select() const;
  void require_own(const DeviceBuffer& buffer) const;
  void* take(int64_t bytes);
  /// take() for a buffer of this name. @throws DeviceOutOfMemory.
  void* take_for(const std::string& name, int64_t bytes);
  void release_kept() noexcept;
  /// The next chunk of the ring, waited for and landed.
  Chunk& acquire();
  void copy_out(DeviceAddress from, std::span<std::byte> to);
  void add_fill(std::byte* at, int64_t bytes, std::byte value);
  void send_fills();
  void send_gather();
  std::byte* staging();
  void check_zones(std::span<const device_kernels::Zone> zones,
                   std::span<device_kernels::ZoneResult> results);
  static void land(Chunk& chunk);
  /// After a failure: targets may be gone when the caller has unwound.
  void drop_landings();

  int ordinal_;
  std::string architecture_;
  std::string description_;
  cudaStream_t stream_ = nullptr;
  std::array<Chunk, kChunks> ring_{};
  size_t next_chunk_ = 0;
  std::map<DeviceAddress, int64_t> live_;
  std::multimap<int64_t, void*> kept_;
  int64_t kept_bytes_ = 0;
  std::vector<device_kernels::Fill> fills_;
  std::vector<device_kernels::Gather> gathers_;
  std::vector<Landing> gather_landings_;
  int64_t gathered_bytes_ = 0;
  std::byte* staging_ = nullptr;
  std::unique_ptr<CudaCompany> company_;
};

}  // namespace planegate
