#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/devices/architecture.h>
#include <planegate/devices/cuda_company.h>
#include <planegate/devices/cuda_device.h>

namespace planegate {
namespace {

std::byte* pointer(DeviceAddress address) {
  return reinterpret_cast<std::byte*>(address);
}

std::string architecture_of(const cudaDeviceProp& properties) {
  return fmt::format("sm_{}{}", properties.major, properties.minor);
}

std::string description_of(const cudaDeviceProp& properties) {
  int runtime = 0;
  PLANEGATE_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return fmt::format("{}, {}, {} SMs, CUDA {}.{}", properties.name, architecture_of(properties),
                     properties.multiProcessorCount, runtime / 1000, runtime % 1000 / 10);
}

/// Up to so many bytes a fill is sent with others.
constexpr int64_t kSmallFillBytes = int64_t{1} << 20;

/// What is allocated for so many bytes: up to a megabyte one of eight sizes an octave, so that few
/// distinct sizes are kept.
int64_t block_bytes(int64_t bytes) {
  constexpr int64_t kLargestRounded = int64_t{1} << 20;
  if (bytes > kLargestRounded) return bytes;
  const int64_t step = std::max<int64_t>(
      256, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes))) / 8);
  return (bytes + step - 1) / step * step;
}

bool overlap(const device_kernels::Fill& a, const device_kernels::Fill& b) {
  return a.at < b.at + b.bytes && b.at < a.at + a.bytes;
}

/// memcpy on all cores: one does not keep up with the bus.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from) {
  constexpr int64_t kStrideBytes = int64_t{1} << 17;
  const int64_t bytes = std::ssize(from);
  const int64_t strides = (bytes + kStrideBytes - 1) / kStrideBytes;
#pragma omp parallel for schedule(static) if (strides > 1)
  for (int64_t i = 0; i < strides; ++i) {
    const int64_t at = i * kStrideBytes;
    std::memcpy(to.data() + at, from.data() + at,
                static_cast<size_t>(std::min(kStrideBytes, bytes - at)));
  }
}

template <class Span>
Span piece(Span whole, int64_t at) {
  const int64_t bytes = std::min(CudaDevice::kChunkBytes, std::ssize(whole) - at);
  return whole.subspan(static_cast<size_t>(at), static_cast<size_t>(bytes));
}

}  // namespace

CudaDevice::CudaDevice(int ordinal) : ordinal_(ordinal) {
  select();
  cudaDeviceProp properties{};
  PLANEGATE_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  architecture_ = architecture_of(properties);
  description_ = description_of(properties);
  PLANEGATE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

CudaDevice::~CudaDevice() {
  PLANEGATE_CUDA_RECORD(cudaSetDevice(ordinal_));
  PLANEGATE_CUDA_RECORD(cudaStreamSynchronize(stream_));
  release_kept();
  if (staging_ != nullptr) PLANEGATE_CUDA_RECORD(cudaFree(staging_));
  for (const Chunk& chunk : ring_) {
    if (chunk.landed != nullptr) PLANEGATE_CUDA_RECORD(cudaEventDestroy(chunk.landed));
    if (chunk.pinned != nullptr) PLANEGATE_CUDA_RECORD(cudaFreeHost(chunk.pinned));
  }
  company_.reset();
  PLANEGATE_CUDA_RECORD(cudaStreamDestroy(stream_));
}

std::optional<std::string> CudaDevice::lacks(const std::string& architecture) const {
  return architecture_lacking(architecture, architecture_, PLANEGATE_CUDA_ARCHITECTURES);
}

void CudaDevice::select() const {
  PLANEGATE_CUDA_CHECK(cudaSetDevice(ordinal_));
}

void CudaDevice::require_own(const DeviceBuffer& buffer) const {
  if (live_.count(buffer.address()) != 0) return;
  throw ContractError("address", fmt::format("{:#x}", buffer.address()),
                      "not the start of a live buffer of device cuda");
}

cudaStream_t CudaDevice::stream() {
  select();
  send_fills();
  send_gather();
  return stream_;
}

void* CudaDevice::take(int64_t bytes) {
  if (const auto kept = kept_.find(bytes); kept != kept_.end()) {
    void* const base = kept->second;
    kept_.erase(kept);
    kept_bytes_ -= bytes;
    return base;
  }
  void* base = nullptr;
  if (cudaMalloc(&base, static_cast<size_t>(bytes)) == cudaSuccess) return base;
  static_cast<void>(cudaGetLastError());
  release_kept();
  PLANEGATE_CUDA_CHECK(cudaMalloc(&base, static_cast<size_t>(bytes)));
  return base;
}

void* CudaDevice::take_for(const std::string& name, int64_t bytes) {
  try {
    return take(bytes);
  } catch (const CudaError& error) {
    if (error.code() != cudaErrorMemoryAllocation) throw;
    const DeviceMemory left = memory().value_or(DeviceMemory{});
    throw DeviceOutOfMemory(fmt::format("no memory for {} on cuda: {} bytes, {} of {} free ({})",
                                        name, bytes, left.free_bytes, left.total_bytes,
                                        error.what()));
  }
}

void CudaDevice::release_kept() noexcept {
  if (kept_.empty()) return;
  // The stream does not block: cudaFree alone need not wait for it.
  PLANEGATE_CUDA_RECORD(cudaStreamSynchronize(stream_));
  for (const auto& [bytes, base] : kept_) PLANEGATE_CUDA_RECORD(cudaFree(base));
  kept_.clear();
  kept_bytes_ = 0;
}

DeviceBuffer CudaDevice::allocate(std::string name, int64_t size_bytes, std::byte guard_fill) {
  require(size_bytes >= 1, "size_bytes", size_bytes, "at least 1");
  require(size_bytes <= int64_t{1} << 61, "size_bytes", size_bytes, "at most 2^61");
  select();
  auto* const base =
      static_cast<std::byte*>(take_for(name, block_bytes(size_bytes + 2 * kGuardBytes)));
  const auto address = reinterpret_cast<DeviceAddress>(base + kGuardBytes);
  DeviceBuffer buffer(*this, std::move(name), address, size_bytes, guard_fill);
  live_.emplace(address, size_bytes);
  add_fill(base, kGuardBytes, guard_fill);
  add_fill(base + kGuardBytes, size_bytes, kPoison);
  add_fill(base + kGuardBytes + size_bytes, kGuardBytes, guard_fill);
  return buffer;
}

void CudaDevice::free(DeviceAddress address) noexcept {
  const auto freed = live_.find(address);
  if (freed == live_.end()) return;
  const int64_t bytes = block_bytes(freed->second + 2 * kGuardBytes);
  live_.erase(freed);
  PLANEGATE_CUDA_RECORD(cudaSetDevice(ordinal_));
  std::byte* const base = pointer(address) - kGuardBytes;
  try {
    // What was collected still finds the memory: whoever gets it next is behind it in the stream.
    if (bytes <= kKeptBytes / 4) {
      if (kept_bytes_ + bytes > kKeptBytes) {
        stream();
        release_kept();
      }
      kept_.emplace(bytes, base);
      kept_bytes_ += bytes;
      return;
    }
    stream();
  } catch (const std::exception&) {
    drop_landings();
  }
  PLANEGATE_CUDA_RECORD(cudaStreamSynchronize(stream_));
  PLANEGATE_CUDA_RECORD(cudaFree(base));
}

void CudaDevice::add_fill(std::byte* at, int64_t bytes, std::byte value) {
  send_gather();
  if (bytes > kSmallFillBytes) {
    send_fills();
    PLANEGATE_CUDA_CHECK(
        cudaMemsetAsync(at, static_cast<int>(value), static_cast<size_t>(bytes), stream_));
    return;
  }
  const device_kernels::Fill fill{at, bytes, static_cast<uint8_t>(value)};
  for (device_kernels::Fill& earlier : fills_) {
    if (earlier.at == at && earlier.bytes == bytes) {
      earlier.value = fill.value;
      return;
    }
  }
  const auto overlaps = [&](const auto& earlier) { return overlap(earlier, fill); };
  const bool full = fills_.size() == device_kernels::kMaxFills;
  if (full || std::any_of(fills_.begin(), fills_.end(), overlaps)) send_fills();
  fills_.push_back(fill);
}

void CudaDevice::send_fills() {
  if (fills_.empty()) return;
  const auto fills = std::exchange(fills_, {});
  PLANEGATE_CUDA_CHECK(device_kernels::launch_fills(fills, stream_));
}

void CudaDevice::fill(const DeviceBuffer& to, std::byte value) {
  require_own(to);
  select();
  add_fill(pointer(to.address()), to.size_bytes(), value);
}

void CudaDevice::land(Chunk& chunk) {
  for (const Landing& landing : chunk.landings) {
    copy_bytes(landing.target, {chunk.pinned + landing.at, landing.target.size()});
  }
  chunk.landings.clear();
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
  land(chunk);
  return chunk;
}

void CudaDevice::upload(const DeviceBuffer& to, std::span<const std::byte> from) {
  require_own(to);
  require(std::ssize(from) == to.size_bytes(), "from.size()", std::ssize(from),
          fmt::format("{} bytes of buffer {}", to.size_bytes(), to.name()));
  stream();
  for (int64_t at = 0; at < std::ssize(from); at += kChunkBytes) {
    const std::span<const std::byte> source = piece(from, at);
    const Chunk& chunk = acquire();
    copy_bytes({chunk.pinned, source.size()}, source);
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
    std::fill(to.begin(), to.end(), kPoison);
    copy_out(from.address(), to);
  } catch (const DeviceError&) {
    drop_landings();
    throw;
  }
}

void CudaDevice::scan(const DeviceBuffer& from,
                      const std::function<void(std::span<const std::byte>)>& on_piece) {
  require_own(from);
  const int64_t bytes = from.size_bytes();
  if (bytes <= kSmallBytes) return Device::scan(from, on_piece);
  synchronise();
  std::array<const Chunk*, kChunks> sent{};
  const auto size_at = [&](int64_t at) {
    return static_cast<size_t>(std::min(kChunkBytes, bytes - at));
  };
  const auto send = [&](int64_t at) {
    if (at >= bytes) return;
    const Chunk& chunk = acquire();
    sent[static_cast<size_t>(at / kChunkBytes % kChunks)] = &chunk;
    PLANEGATE_CUDA_CHECK(cudaMemcpyAsync(chunk.pinned, pointer(from.address()) + at, size_at(at),
                                         cudaMemcpyDeviceToHost, stream_));
    PLANEGATE_CUDA_CHECK(cudaEventRecord(chunk.landed, stream_));
  };
  for (int64_t i = 0; i < kChunks; ++i) send(i * kChunkBytes);
  for (int64_t at = 0; at < bytes; at += kChunkBytes) {
    const Chunk& chunk = *sent[static_cast<size_t>(at / kChunkBytes % kChunks)];
    PLANEGATE_CUDA_CHECK(cudaEventSynchronize(chunk.landed));
    on_piece({chunk.pinned, size_at(at)});
    send(at + kChunks * kChunkBytes);
  }
}

void CudaDevice::drop_landings() {
  for (Chunk& chunk : ring_) chunk.landings.clear();
  fills_.clear();
  gathers_.clear();
  gather_landings_.clear();
  gathered_bytes_ = 0;
}

void CudaDevice::copy_out(DeviceAddress from, std::span<std::byte> to) {
  send_fills();
  if (std::ssize(to) <= kSmallBytes) {
    const bool full = gathers_.size() == device_kernels::kMaxGathers ||
                      gathered_bytes_ + kSmallBytes > kStagingBytes;
    if (full) send_gather();
    gathers_.push_back({pointer(from), std::ssize(to), gathered_bytes_});
    gather_landings_.push_back({gathered_bytes_, to});
    gathered_bytes_ += (std::ssize(to) + 15) / 16 * 16;
    return;
  }
  send_gather();
  for (int64_t at = 0; at < std::ssize(to); at += kChunkBytes) {
    const std::span<std::byte> target = piece(to, at);
    Chunk& chunk = acquire();
    PLANEGATE_CUDA_CHECK(cudaMemcpyAsync(chunk.pinned, pointer(from) + at, target.size(),
                                         cudaMemcpyDeviceToHost, stream_));
    PLANEGATE_CUDA_CHECK(cudaEventRecord(chunk.landed, stream_));
    chunk.landings.push_back({0, target});
  }
}

std::byte* CudaDevice::staging() {
  if (staging_ == nullptr) {
    void* staging = nullptr;
    PLANEGATE_CUDA_CHECK(cudaMalloc(&staging, size_t{kStagingBytes} + kZonesBytes));
    staging_ = static_cast<std::byte*>(staging);
  }
  return staging_;
}

void CudaDevice::send_gather() {
  if (gathers_.empty()) return;
  const auto gathers = std::exchange(gathers_, {});
  auto landings = std::exchange(gather_landings_, {});
  const auto bytes = static_cast<size_t>(std::exchange(gathered_bytes_, 0));
  Chunk& chunk = acquire();
  PLANEGATE_CUDA_CHECK(device_kernels::launch_gathers(gathers, staging(), stream_));
  PLANEGATE_CUDA_CHECK(
      cudaMemcpyAsync(chunk.pinned, staging(), bytes, cudaMemcpyDeviceToHost, stream_));
  PLANEGATE_CUDA_CHECK(cudaEventRecord(chunk.landed, stream_));
  chunk.landings = std::move(landings);
}

void CudaDevice::synchronise() {
  try {
    PLANEGATE_CUDA_CHECK(cudaStreamSynchronize(stream()));
  } catch (const DeviceError&) {
    drop_landings();
    throw;
  }
  for (size_t i = 0; i < ring_.size(); ++i) land(ring_[(next_chunk_ + i) % ring_.size()]);
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
  } catch (const DeviceError& error) {
    why_not = std::string("no CUDA device: ") + error.what();
    return nullptr;
  }
}

}  // namespace planegate
