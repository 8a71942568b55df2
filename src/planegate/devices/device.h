#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace planegate {

enum class DeviceKind : uint8_t { kHost, kCuda };

/// An address in a device's own memory. Never to be dereferenced by the host: on `host` it lies
/// outside the address space of the process, so that an attempt is a fault, not a value.
using DeviceAddress = uint64_t;

/// Bytes of guard zone before and after every buffer.
inline constexpr int64_t kGuardBytes = 4096;
/// Alignment of every buffer's first byte.
inline constexpr int64_t kBufferAlignmentBytes = 256;
/// What a buffer holds before it is written, and a read-back's target before it has landed.
inline constexpr std::byte kPoison{0xDB};

class Device;
struct ConsumerSpec;
struct KernelEntry;

/// A device's memory as its driver reports it.
struct DeviceMemory {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

/// What a kernel takes, as a device's runtime reports it.
struct KernelAttributes {
  std::string architecture;  ///< of the code that is loaded: `sm_90`
  int64_t registers = 0;     ///< of a thread
  int64_t stack_bytes = 0;   ///< local memory of a thread
  int64_t shared_bytes = 0;  ///< of a block, static and dynamic
  int64_t blocks_per_sm = 0;
};

/// A named allocation with guard zones on both sides. Move-only; frees itself.
/// @pre its device outlives it.
class DeviceBuffer {
 public:
  DeviceBuffer(Device& device, std::string name, DeviceAddress address, int64_t size_bytes,
               std::byte guard_fill);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  const std::string& name() const { return name_; }
  DeviceAddress address() const { return address_; }
  int64_t size_bytes() const { return size_bytes_; }
  std::byte guard_fill() const { return guard_fill_; }

 private:
  Device* device_ = nullptr;
  std::string name_;
  DeviceAddress address_ = 0;
  int64_t size_bytes_ = 0;
  std::byte guard_fill_{};
};

/// The first guard byte that no longer holds its fill. `offset_bytes` is relative to the buffer:
/// negative before it, at or above its size behind it.
struct GuardBreach {
  int64_t offset_bytes = 0;
  std::byte value{};
};

/// A device's memory and its one in-order stream.
///
/// Copies and launches are asynchronous: what they write may be read, and what went wrong is
/// thrown, after synchronise(). All sizes in bytes. One host thread uses a device; nothing here is
/// locked. Every member that takes a buffer throws ContractError for one that is not its own.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceKind kind() const = 0;
  /// `host` or `cuda`.
  virtual std::string name() const = 0;
  /// `host executor, 2 threads`, `NVIDIA H200, sm_90, 132 SMs, CUDA 13.0`.
  virtual std::string description() const = 0;
  /// What runs the device's code beside this program: `580.159.04`; `none` on host.
  virtual std::string driver() const = 0;
  /// Why `consumer` runs nowhere on this device: `does not run on cuda`, `needs sm_90a, and cuda is
  /// sm_80`; nullopt when it does.
  std::optional<std::string> refusal(const ConsumerSpec& consumer) const;

  /// A buffer whose content is poison and whose guard zones hold `guard_fill`.
  /// @throws ContractError for a size below 1, DeviceOutOfMemory.
  virtual DeviceBuffer allocate(std::string name, int64_t size_bytes,
                                std::byte guard_fill = std::byte{0xA5}) = 0;
  /// Sets every byte. In stream order.
  virtual void fill(const DeviceBuffer& to, std::byte value) = 0;
  /// Copies through pinned staging; `from` may be reused on return.
  /// @pre from.size() == to.size_bytes()
  virtual void upload(const DeviceBuffer& to, std::span<const std::byte> from) = 0;
  /// Copies through pinned memory; `to` holds poison until synchronise() (a copy that is larger
  /// than the ring of chunks lands in part before) and where the stream failed, for good.
  /// @pre to.size() == from.size_bytes(); `to` lives until synchronise() has returned.
  virtual void read_back(const DeviceBuffer& from, std::span<std::byte> to) = 0;
  /// Reads a buffer back and calls `on_piece` with its bytes, in order, in one piece or several. A
  /// piece is gone when the call returns. Synchronises.
  /// @throws as synchronise(), and what on_piece() throws.
  virtual void scan(const DeviceBuffer& from,
                    const std::function<void(std::span<const std::byte>)>& on_piece);
  /// Waits for everything so far. @throws what the work threw: DeviceError, SimtFault.
  virtual void synchronise() = 0;
  /// Compares both guard zones of a buffer with their fill. Synchronises.
  virtual std::optional<GuardBreach> breached_guard(const DeviceBuffer& buffer) = 0;
  /// The same for many buffers, in their order; synchronises no later than the first comparison.
  virtual std::vector<std::optional<GuardBreach>> breached_guards(
      std::span<const DeviceBuffer* const> buffers);

  /// Seconds from the start of what `work` queues to its end, by the device's own clock where it
  /// has one. Synchronises. @throws as synchronise(), and what work() throws.
  virtual double timed_s(const std::function<void()>& work) = 0;
  /// Of the device's cores, as they run now; nullopt where it cannot be told. Synchronises.
  virtual std::optional<double> clock_hz() { return std::nullopt; }

  /// nullopt for a device that has no memory of its own.
  virtual std::optional<DeviceMemory> memory() { return std::nullopt; }
  /// nullopt for a device whose kernels take no registers. @throws DeviceError.
  virtual std::optional<KernelAttributes> attributes_of(const KernelEntry&) { return std::nullopt; }

  /// Starts a kernel of no use that keeps a part of the device busy beside whatever is queued until
  /// end_company(). A device that has none does nothing.
  virtual void start_company() {}
  /// Lets that kernel end once everything queued so far has run. @pre start_company() was called.
  /// Synchronises. Returns whether it ran beside all of it.
  virtual bool end_company() { return false; }

 protected:
  friend class DeviceBuffer;
  /// Why code of `architecture` alone (`sm_90a`) does not run here: `cuda is sm_80`.
  virtual std::optional<std::string> lacks(const std::string& architecture) const;
  /// The noexcept twin of allocate(). Work that was queued before still finds the memory.
  virtual void free(DeviceAddress address) noexcept = 0;
};

/// A device's runtime reported an error: call, place, error name and text.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A buffer found no memory; the device itself goes on.
///
/// Text: `no memory for blk.0.ffn_up.weight/w_exp on cuda: 80216064 bytes, 1024 of 2048 free
/// (cudaMalloc: cudaErrorMemoryAllocation: out of memory)`.
class DeviceOutOfMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The device, or this process's hold on it, is gone: no call on it succeeds any more. Whatever ran
/// on it last is to blame or was its victim; nothing after it can be verified in this process.
///
/// Text: `device lost: ` and the runtime's report.
class DeviceLost : public DeviceError {
 public:
  explicit DeviceLost(const std::string& report) : DeviceError("device lost: " + report) {}
};

/// The host model: foreign memory, copies that land late, kernels on the host executor.
std::unique_ptr<Device> make_host_device();

/// The first CUDA device. Null with the reason when there is none, or when built without CUDA.
std::unique_ptr<Device> make_cuda_device(std::string& why_not);

}  // namespace planegate
