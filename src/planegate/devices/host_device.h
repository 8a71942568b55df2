#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include <planegate/devices/device.h>

namespace planegate {

/// Which blocks the host executor runs, and in which order the lanes and warps of each.
struct Schedule {
  enum class Order : uint8_t { kAscending, kDescending, kRandom };
  Order order = Order::kAscending;
  uint64_t seed = 0;
  /// Only blocks whose x lies in [x_begin, x_end) run: a window of a large grid.
  int64_t x_begin = 0;
  int64_t x_end = std::numeric_limits<int64_t>::max();
  /// The window is one of grids of this many columns, others run whole; 0: of all.
  int64_t x_of_columns = 0;
};

/// The host model of a device.
///
/// Buffers live at addresses outside the process's address space, no address is ever handed out
/// twice, and only the executor resolves them. The memory behind a large buffer is committed as it
/// is written. Copies go through a ring of chunks: an upload captures its source at once and lands
/// when the ring needs the room or at synchronise(); a read-back poisons its target at once and
/// likewise lands late. Work runs in order, on the caller's thread. Freeing a buffer runs the
/// stream forward first, as cudaFree does. The first error is thrown by synchronise(), once; all
/// work between it and that synchronise() is dropped.
class HostDevice : public Device {
 public:
  static constexpr int64_t kChunkBytes = int64_t{4} << 20;
  static constexpr int64_t kRingBytes = 4 * kChunkBytes;

  HostDevice();
  ~HostDevice() override;

  DeviceKind kind() const override { return DeviceKind::kHost; }
  std::string name() const override { return "host"; }
  std::string driver() const override { return "none"; }
  double timed_s(const std::function<void()>& work) override;
  std::string description() const override;

  DeviceBuffer allocate(std::string name, int64_t size_bytes,
                        std::byte guard_fill = std::byte{0xA5}) override;
  void fill(const DeviceBuffer& to, std::byte value) override;
  void upload(const DeviceBuffer& to, std::span<const std::byte> from) override;
  void read_back(const DeviceBuffer& from, std::span<std::byte> to) override;
  void synchronise() override;
  std::optional<GuardBreach> breached_guard(const DeviceBuffer& buffer) override;

  /// Appends work to the stream. @pre `work` itself neither enqueues nor synchronises.
  void enqueue(std::function<void()> work);
  /// The real bytes of the buffer that starts at `address`, guard zones excluded.
  /// @throws ContractError when no live buffer starts there.
  std::span<std::byte> resolve(DeviceAddress address);

  /// Bytes of copies that wait in the ring. @post at most kRingBytes
  int64_t staged_bytes() const { return staged_bytes_; }

  const Schedule& schedule() const { return schedule_; }
  /// Applies to launches from now on.
  void set_schedule(Schedule schedule) { schedule_ = schedule; }

 protected:
  void free(DeviceAddress address) noexcept override;

 private:
  struct Memory;
  struct Work {
    std::function<void()> run;
    int64_t staged_bytes = 0;
  };

  Memory& memory(DeviceAddress address);
  /// Runs the stream until `bytes` more fit into the ring, then appends `run`.
  void enqueue_copy(int64_t bytes, std::function<void()> run);
  void append(Work work);
  void run_front() noexcept;
  void run_all() noexcept;

  std::map<DeviceAddress, std::unique_ptr<Memory>> memory_;
  std::deque<Work> queue_;
  int64_t staged_bytes_ = 0;
  std::exception_ptr failure_;
  Schedule schedule_;
};

}  // namespace planegate
