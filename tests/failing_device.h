#pragma once

#include <limits>
#include <string>
#include <utility>

#include <planegate/devices/host_device.h>

namespace planegate::test {

/// A host device that goes away, or that has no memory for some buffers.
class FailingDevice final : public HostDevice {
 public:
  /// Lost from so many allocations, uploads, read-backs and waits on: for good.
  int64_t calls_until_lost = std::numeric_limits<int64_t>::max();
  /// Of these allocations, counted from 0, and of buffers whose name ends so, none finds memory.
  int64_t full_at_allocation = -1;
  std::string no_memory_for = {};

  int64_t calls() const { return calls_; }
  int64_t allocations() const { return allocations_; }

  DeviceBuffer allocate(std::string name, int64_t size_bytes, std::byte guard_fill) override {
    count_call();
    const bool unloved = !no_memory_for.empty() && name.ends_with(no_memory_for);
    if (allocations_++ == full_at_allocation || unloved) {
      throw DeviceOutOfMemory("no memory for " + name);
    }
    return HostDevice::allocate(std::move(name), size_bytes, guard_fill);
  }
  void upload(const DeviceBuffer& to, std::span<const std::byte> from) override {
    count_call();
    HostDevice::upload(to, from);
  }
  void read_back(const DeviceBuffer& from, std::span<std::byte> to) override {
    count_call();
    HostDevice::read_back(from, to);
  }
  void synchronise() override {
    count_call();
    HostDevice::synchronise();
  }

 private:
  void count_call() {
    if (calls_++ < calls_until_lost) return;
    // What is under way lands now or never: its targets are gone when the caller has unwound.
    HostDevice::synchronise();
    throw DeviceLost("cudaErrorLaunchFailure, as a test has it");
  }

  int64_t calls_ = 0;
  int64_t allocations_ = 0;
};

}  // namespace planegate::test
