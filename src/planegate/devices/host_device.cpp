#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <planegate/core/errors.h>
#include <planegate/devices/guard_zones.h>
#include <planegate/devices/host_device.h>

namespace planegate {
namespace {

constexpr int64_t kPageBytes = 4096;
constexpr int64_t kPoisonFileBytes = int64_t{16} << 20;
/// So far apart that a wrong stride does not reach the next buffer.
constexpr DeviceAddress kSpacingBytes = DeviceAddress{1} << 32;
/// Non-canonical on x86-64: bit 63 set, bit 62 clear. A dereference faults in every process.
constexpr DeviceAddress kFirstAddress = (DeviceAddress{1} << 63) + kSpacingBytes;

std::atomic<DeviceAddress> next_address{kFirstAddress};

int64_t round_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::byte* map(int64_t bytes) {
  void* const at = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

/// A file of poison in memory, -1 where the system has none.
int open_poison_file() {
  const int file = memfd_create("planegate-poison", MFD_CLOEXEC);
  if (file < 0) return -1;
  const std::vector<std::byte> poison(static_cast<size_t>(kPoisonFileBytes), kPoison);
  const auto written = write(file, poison.data(), poison.size());
  if (written == std::ssize(poison)) return file;
  close(file);
  return -1;
}

/// Poisons without committing memory: a large range becomes copy-on-write views of one file.
void poison(std::byte* to, int64_t bytes) {
  static const int file = open_poison_file();
  int64_t done = 0;
  while (file >= 0 && bytes - done >= kPoisonFileBytes) {
    if (mmap(to + done, static_cast<size_t>(kPoisonFileBytes), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) {
      break;
    }
    done += kPoisonFileBytes;
  }
  std::memset(to + done, static_cast<int>(kPoison), static_cast<size_t>(bytes - done));
}

template <class Span>
Span piece(Span whole, int64_t at) {
  const int64_t bytes = std::min(HostDevice::kChunkBytes, std::ssize(whole) - at);
  return whole.subspan(static_cast<size_t>(at), static_cast<size_t>(bytes));
}

}  // namespace

struct HostDevice::Memory {
  Memory(std::byte* mapped, int64_t mapped_size_bytes, int64_t content_bytes, std::byte fill)
      : base(mapped), mapped_bytes(mapped_size_bytes), size_bytes(content_bytes) {
    poison(base, mapped_bytes);
    std::memset(base, static_cast<int>(fill), kGuardBytes);
    std::memset(base + kGuardBytes + size_bytes, static_cast<int>(fill), kGuardBytes);
  }
  ~Memory() { munmap(base, static_cast<size_t>(mapped_bytes)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::span<std::byte> content() const {
    return {base + kGuardBytes, static_cast<size_t>(size_bytes)};
  }
  std::span<const std::byte> guard(int64_t offset_bytes) const {
    return {base + kGuardBytes + offset_bytes, static_cast<size_t>(kGuardBytes)};
  }

  std::byte* base;
  int64_t mapped_bytes;
  int64_t size_bytes;
};

HostDevice::HostDevice() = default;
HostDevice::~HostDevice() = default;

std::string HostDevice::description() const {
  return fmt::format("host executor, {} threads",
                     std::max(1u, std::thread::hardware_concurrency()));
}

double HostDevice::timed_s(const std::function<void()>& work) {
  synchronise();
  const auto begun = std::chrono::steady_clock::now();
  work();
  synchronise();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

DeviceBuffer HostDevice::allocate(std::string name, int64_t size_bytes, std::byte guard_fill) {
  require(size_bytes >= 1, "size_bytes", size_bytes, "at least 1");
  require(size_bytes <= int64_t{1} << 61, "size_bytes", size_bytes, "at most 2^61");
  const int64_t mapped_bytes = round_up(size_bytes + 2 * kGuardBytes, kPageBytes);
  std::byte* const mapped = map(mapped_bytes);
  if (mapped == nullptr) {
    throw DeviceOutOfMemory(fmt::format("no memory for {} on host: {} bytes (mmap: {})", name,
                                        mapped_bytes, std::strerror(errno)));
  }
  auto memory = std::make_unique<Memory>(mapped, mapped_bytes, size_bytes, guard_fill);
  const auto step = static_cast<DeviceAddress>(mapped_bytes) + kSpacingBytes;
  const DeviceAddress address = next_address.fetch_add(step / kPageBytes * kPageBytes);
  memory_.emplace(address, std::move(memory));
  return DeviceBuffer(*this, std::move(name), address, size_bytes, guard_fill);
}

void HostDevice::free(DeviceAddress address) noexcept {
  run_all();
  memory_.erase(address);
}

HostDevice::Memory& HostDevice::memory(DeviceAddress address) {
  const auto found = memory_.find(address);
  if (found == memory_.end()) {
    throw ContractError("address", fmt::format("{:#x}", address),
                        "not the start of a live buffer of device host");
  }
  return *found->second;
}

std::span<std::byte> HostDevice::resolve(DeviceAddress address) {
  return memory(address).content();
}

void HostDevice::fill(const DeviceBuffer& to, std::byte value) {
  const std::span<std::byte> content = resolve(to.address());
  enqueue([content, value] { std::fill(content.begin(), content.end(), value); });
}

void HostDevice::upload(const DeviceBuffer& to, std::span<const std::byte> from) {
  const std::span<std::byte> content = resolve(to.address());
  require(std::ssize(from) == to.size_bytes(), "from.size()", std::ssize(from),
          fmt::format("{} bytes of buffer {}", to.size_bytes(), to.name()));
  for (int64_t at = 0; at < std::ssize(from); at += kChunkBytes) {
    const std::span<const std::byte> source = piece(from, at);
    const std::span<std::byte> target = piece(content, at);
    std::vector<std::byte> chunk(source.begin(), source.end());
    enqueue_copy(std::ssize(source), [target, chunk = std::move(chunk)] {
      std::copy(chunk.begin(), chunk.end(), target.begin());
    });
  }
}

void HostDevice::read_back(const DeviceBuffer& from, std::span<std::byte> to) {
  const std::span<const std::byte> content = resolve(from.address());
  require(std::ssize(to) == from.size_bytes(), "to.size()", std::ssize(to),
          fmt::format("{} bytes of buffer {}", from.size_bytes(), from.name()));
  std::fill(to.begin(), to.end(), kPoison);
  for (int64_t at = 0; at < std::ssize(to); at += kChunkBytes) {
    const std::span<const std::byte> source = piece(content, at);
    const std::span<std::byte> target = piece(to, at);
    enqueue_copy(std::ssize(source),
                 [source, target] { std::copy(source.begin(), source.end(), target.begin()); });
  }
}

void HostDevice::enqueue(std::function<void()> work) {
  append({std::move(work), 0});
}

void HostDevice::enqueue_copy(int64_t bytes, std::function<void()> run) {
  while (staged_bytes_ + bytes > kRingBytes) run_front();
  append({std::move(run), bytes});
}

void HostDevice::append(Work work) {
  if (failure_ != nullptr) return;
  staged_bytes_ += work.staged_bytes;
  queue_.push_back(std::move(work));
}

void HostDevice::run_front() noexcept {
  const Work work = std::move(queue_.front());
  queue_.pop_front();
  staged_bytes_ -= work.staged_bytes;
  try {
    work.run();
  } catch (...) {
    failure_ = std::current_exception();
    queue_.clear();
    staged_bytes_ = 0;
  }
}

void HostDevice::run_all() noexcept {
  while (!queue_.empty()) run_front();
}

void HostDevice::synchronise() {
  run_all();
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

std::optional<GuardBreach> HostDevice::breached_guard(const DeviceBuffer& buffer) {
  const Memory& at = memory(buffer.address());
  synchronise();
  for (const int64_t offset_bytes : {-kGuardBytes, buffer.size_bytes()}) {
    const auto breach =
        detail::first_breach(at.guard(offset_bytes), buffer.guard_fill(), offset_bytes);
    if (breach) return breach;
  }
  return std::nullopt;
}

std::unique_ptr<Device> make_host_device() {
  return std::make_unique<HostDevice>();
}

}  // namespace planegate
