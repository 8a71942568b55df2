#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/devices/cuda_device.h>
#include <planegate/devices/guard_zones.h>

namespace planegate {
namespace {

std::mutex cleanup_mutex;
std::string cleanup_error;

std::string failure_text(cudaError_t code, const char* call, const char* file, int line) {
  const char* const slash = std::strrchr(file, '/');
  int device = -1;
  const bool selected = cudaGetDevice(&device) == cudaSuccess;
  return fmt::format("{}: {}: {} ({}:{}, {})", call, cudaGetErrorName(code),
                     cudaGetErrorString(code), slash == nullptr ? file : slash + 1, line,
                     selected ? fmt::format("device {}", device) : "no device");
}

std::byte* pointer(DeviceAddress address) {
  return reinterpret_cast<std::byte*>(address);
}

std::string describe_device(int ordinal) {
  cudaDeviceProp properties{};
  PLANEGATE_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  int runtime = 0;
  PLANEGATE_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return fmt::format("{}, sm_{}{}, {} SMs, CUDA {}.{}", properties.name, properties.major,
                     properties.minor, properties.multiProcessorCount, runtime / 1000,
                     runtime % 1000 / 10);
}

template <class Span>
Span piece(Span whole, int64_t at) {
  const int64_t bytes = std::min(CudaDevice::kChunkBytes, std::ssize(whole) - at);
  return whole.subspan(static_cast<size_t>(at), static_cast<size_t>(bytes));
}

}  // namespace

CudaError::CudaError(cudaError_t code, const char* call, const char* file, int line)
    : DeviceError(failure_text(code, call, file, line)), code_(code) {}

void detail::check_cuda(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  const CudaError error(code, call, file, line);
  static_cast<void>(cudaGetLastError());
  throw error;
}

void detail::record_cuda(cudaError_t code, const char* call, const char* file, int line) noexcept {
  if (code == cudaSuccess) return;
  try {
    const std::string text = failure_text(code, call, file, line);
    const std::lock_guard lock(cleanup_mutex);
    if (cleanup_error.empty()) cleanup_error = text;
  } catch (const std::exception&) {
    // No memory for the text: nothing is left to record it in.
  }
  static_cast<void>(cudaGetLastError());
}

std::string take_cuda_cleanup_error() {
  const std::lock_guard lock(cleanup_mutex);
  return std::exchange(cleanup_error, {});
}

CudaDevice::CudaDevice(int ordinal) : ordinal_(ordinal) {
  select();
  description_ = describe_device(ordinal);
  PLANEGATE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

CudaDevice::~CudaDevice() {
  PLANEGATE_CUDA_RECORD(cudaSetDevice(ordinal_));
  PLANEGATE_CUDA_RECORD(cudaStreamSynchronize(stream_));
  for (const Chunk& chunk : ring_) {
    if (chunk.landed != nullptr) PLANEGATE_CUDA_RECORD(cudaEventDestroy(chunk.landed));
    if (chunk.pinned != nullptr) PLANEGATE_CUDA_RECORD(cudaFreeHost(chunk.pinned));
  }
  PLANEGATE_CUDA_RECORD(cudaStreamDestroy(stream_));
}

void CudaDevice::select() const {
  PLANEGATE_CUDA_CHECK(cudaSetDevice(ordinal_));
}

void CudaDevice::require_own(const DeviceBuffer& buffer) const {
  if (live_.count(buffer.address()) != 0) return;
  throw ContractError("address", fmt::format("{:#x}", buffer.address()),
                      "not the start of a live buffer of device cuda");
}

DeviceBuffer CudaDevice::allocate(std::string name, int64_t size_bytes, std::byte guard_fill) {
  require(size_bytes >= 1, "size_bytes", size_bytes, "at least 1");
  require(size_bytes <= int64_t{1} << 61, "size_bytes", size_bytes, "at most 2^61");
  select();
  const auto bytes = static_cast<size_t>(size_bytes + 2 * kGuardBytes);
  void* base = nullptr;
  PLANEGATE_CUDA_CHECK(cudaMalloc(&base, bytes));
  const auto address =
      reinterpret_cast<DeviceAddress>(base) + static_cast<DeviceAddress>(kGuardBytes);
  DeviceBuffer buffer(*this, std::move(name), address, size_bytes, guard_fill);
  live_.emplace(address, size_bytes);
  const auto set = [&](int64_t offset_bytes, std::byte value, int64_t count) {
    PLANEGATE_CUDA_CHECK(cudaMemsetAsync(pointer(address) + offset_bytes, static_cast<int>(value),
                                         static_cast<size_t>(count), stream_));
  };
  set(-kGuardBytes, guard_fill, kGuardBytes);
  set(0, kPoison, size_bytes);
  set(size_bytes, guard_fill, kGuardBytes);
  return buffer;
}

void CudaDevice::free(DeviceAddress address) noexcept {
  live_.erase(address);
  PLANEGATE_CUDA_RECORD(cudaSetDevice(ordinal_));
  // The stream does not block: cudaFree alone need not wait for it.
  PLANEGATE_CUDA_RECORD(cudaStreamSynchronize(stream_));
  PLANEGATE_CUDA_RECORD(cudaFree(pointer(address) - kGuardBytes));
}

void CudaDevice::fill(const DeviceBuffer& to, std::byte value) {
  require_own(to);
  select();
  PLANEGATE_CUDA_CHECK(cudaMemsetAsync(pointer(to.address()), static_cast<int>(value),
                                       static_cast<size_t>(to.size_bytes()), stream_));
}

void CudaDevice::land(Chunk& chunk) {
  std::memcpy(chunk.target.data(), chunk.pinned, chunk.target.size());
  chunk.target = {};
}

CudaDevice::Chunk& CudaDevice::acquire() {
  Chunk& chunk = ring_[next_chunk_];
  next_chunk_ = (next_chunk_ + 1) % ring_.size();
  if (chunk.pinned == nullptr) {
    void* pinned = nullptr;
    PLANEGATE_CUDA_CHECK(cudaMallocHost(&pinned, static_cast<size_t>(kChunkBytes)));
    chunk.pinned = static_cast<std::byte*>(pinned);
  }
  if (chunk.landed == nullptr) {
    PLANEGATE_CUDA_CHECK(cudaEventCreateWithFlags(&chunk.landed, cudaEventDisableTiming));
  }
  PLANEGATE_CUDA_CHECK(cudaEventSynchronize(chunk.landed));
  if (!chunk.target.empty()) land(chunk);
  return chunk;
}

void CudaDevice::upload(const DeviceBuffer& to, std::span<const std::byte> from) {
  require_own(to);
  require(std::ssize(from) == to.size_bytes(), "from.size()", std::ssize(from),
          fmt::format("{} bytes of buffer {}", to.size_bytes(), to.name()));
  select();
  for (int64_t at = 0; at < std::ssize(from); at += kChunkBytes) {
    const std::span<const std::byte> source = piece(from, at);
    const Chunk& chunk = acquire();
    std::memcpy(chunk.pinned, source.data(), source.size());
    PLANEGATE_CUDA_CHECK(cudaMemcpyAsync(pointer(to.address()) + at, chunk.pinned, source.size(),
                                         cudaMemcpyHostToDevice, stream_));
    PLANEGATE_CUDA_CHECK(cudaEventRecord(chunk.landed, stream_));
  }
}

void CudaDevice::read_back(const DeviceBuffer& from, std::span<std::byte> to) {
  require_own(from);
  require(std::ssize(to) == from.size_bytes(), "to.size()", std::ssize(to),
          fmt::format("{} bytes of buffer {}", from.size_bytes(), from.name()));
  select();
  try {
    copy_out(from.address(), to);
  } catch (const CudaError&) {
    drop_landings();
    throw;
  }
}

void CudaDevice::drop_landings() {
  for (Chunk& chunk : ring_) chunk.target = {};
}

void CudaDevice::copy_out(DeviceAddress from, std::span<std::byte> to) {
  std::fill(to.begin(), to.end(), kPoison);
  for (int64_t at = 0; at < std::ssize(to); at += kChunkBytes) {
    const std::span<std::byte> target = piece(to, at);
    Chunk& chunk = acquire();
    PLANEGATE_CUDA_CHECK(cudaMemcpyAsync(chunk.pinned, pointer(from) + at, target.size(),
                                         cudaMemcpyDeviceToHost, stream_));
    PLANEGATE_CUDA_CHECK(cudaEventRecord(chunk.landed, stream_));
    chunk.target = target;
  }
}

void CudaDevice::synchronise() {
  try {
    select();
    PLANEGATE_CUDA_CHECK(cudaStreamSynchronize(stream_));
  } catch (const CudaError&) {
    drop_landings();
    throw;
  }
  for (size_t i = 0; i < ring_.size(); ++i) {
    Chunk& chunk = ring_[(next_chunk_ + i) % ring_.size()];
    if (!chunk.target.empty()) land(chunk);
  }
}

std::optional<GuardBreach> CudaDevice::breached_guard(const DeviceBuffer& buffer) {
  require_own(buffer);
  synchronise();
  std::vector<std::byte> zone(static_cast<size_t>(kGuardBytes));
  for (const int64_t offset_bytes : {-kGuardBytes, buffer.size_bytes()}) {
    copy_out(buffer.address() + static_cast<DeviceAddress>(offset_bytes), zone);
    synchronise();
    const auto breach = detail::first_breach(zone, buffer.guard_fill(), offset_bytes);
    if (breach) return breach;
  }
  return std::nullopt;
}

std::unique_ptr<Device> make_cuda_device(std::string& why_not) {
  why_not.clear();
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    why_not = fmt::format("no CUDA device: cudaGetDeviceCount: {}: {}", cudaGetErrorName(code),
                          cudaGetErrorString(code));
    return nullptr;
  }
  if (count == 0) {
    why_not = "no CUDA device: cudaGetDeviceCount: 0 devices";
    return nullptr;
  }
  try {
    return std::make_unique<CudaDevice>();
  } catch (const CudaError& error) {
    why_not = std::string("no CUDA device: ") + error.what();
    return nullptr;
  }
}

}  // namespace planegate
