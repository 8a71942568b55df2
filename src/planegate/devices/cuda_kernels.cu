#include <planegate/devices/cuda_kernels.h>
#include <planegate/devices/device.h>

namespace planegate::device_kernels {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kFillBlocks = 8;

template <class T, size_t N>
struct Array {
  T item[N];
};

template <size_t N, class T>
Array<T, N> packed(std::span<const T> items) {
  Array<T, N> array{};
  for (size_t i = 0; i < items.size(); ++i) array.item[i] = items[i];
  return array;
}

__device__ int64_t head_bytes(const void* at, int64_t bytes) {
  const int64_t to_aligned = static_cast<int64_t>((16 - reinterpret_cast<uintptr_t>(at) % 16) % 16);
  return to_aligned < bytes ? to_aligned : bytes;
}

__global__ void fill_ranges(const __grid_constant__ Array<Fill, kMaxFills> fills) {
  const Fill& fill = fills.item[blockIdx.y];
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  const int64_t me = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t head = head_bytes(fill.at, fill.bytes);
  const int64_t words = (fill.bytes - head) / 16;
  const unsigned word = fill.value * 0x01010101u;
  auto* body = reinterpret_cast<uint4*>(fill.at + head);
  for (int64_t i = me; i < words; i += step) body[i] = {word, word, word, word};
  if (me < head) fill.at[me] = std::byte{fill.value};
  for (int64_t i = head + words * 16 + me; i < fill.bytes; i += step) {
    fill.at[i] = std::byte{fill.value};
  }
}

__global__ void gather_ranges(const __grid_constant__ Array<Gather, kMaxGathers> gathers,
                              std::byte* staging) {
  const Gather& gather = gathers.item[blockIdx.y];
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  const int64_t me = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t words = gather.bytes / 16;
  const auto* from = reinterpret_cast<const uint4*>(gather.from);
  auto* to = reinterpret_cast<uint4*>(staging + gather.to);
  for (int64_t i = me; i < words; i += step) to[i] = from[i];
  for (int64_t i = words * 16 + me; i < gather.bytes; i += step) {
    staging[gather.to + i] = gather.from[i];
  }
}

__global__ void compare_zones(const __grid_constant__ Array<Zone, kMaxZones> zones,
                              ZoneResult* results) {
  __shared__ unsigned first;
  if (threadIdx.x == 0) first = ZoneResult::kIntact;
  __syncthreads();
  const Zone& zone = zones.item[blockIdx.x];
  for (unsigned i = threadIdx.x; i < kGuardBytes; i += blockDim.x) {
    if (static_cast<uint8_t>(zone.at[i]) != zone.fill) atomicMin(&first, i);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const uint32_t value = first == ZoneResult::kIntact ? 0u : static_cast<uint8_t>(zone.at[first]);
  results[blockIdx.x] = {first, value};
}

__device__ uint64_t nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin(Spun* spun) {
  constexpr uint64_t kNanoseconds = 500'000;
  const uint64_t begun = nanoseconds();
  const long long cycles = clock64();
  while (nanoseconds() - begun < kNanoseconds) {
  }
  *spun = {static_cast<uint64_t>(clock64() - cycles), nanoseconds() - begun};
}

__global__ void keep_busy(uint32_t epoch, const uint32_t* stop, uint32_t* scratch,
                          CompanySigns* signs) {
  const uint64_t started = nanoseconds();
  volatile uint32_t* mine = scratch + blockIdx.x * kThreads;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *static_cast<volatile uint32_t*>(&signs->started) = epoch;
    __threadfence_system();
  }
  uint32_t word = threadIdx.x;
  bool told = false;
  while (!told && nanoseconds() - started < kCompanyNanoseconds) {
    for (int i = 0; i < 64; ++i) {
      word = word * 1664525u + 1013904223u;
      mine[(threadIdx.x + word) % kThreads] = word;
      word ^= mine[(threadIdx.x * 7 + i) % kThreads];
    }
    told = *static_cast<const volatile uint32_t*>(stop) == epoch * 0x01010101u;
  }
  if (told && blockIdx.x == 0 && threadIdx.x == 0) {
    *static_cast<volatile uint32_t*>(&signs->ended) = epoch;
  }
}

}  // namespace

cudaError_t launch_fills(std::span<const Fill> fills, cudaStream_t stream) {
  const dim3 grid(kFillBlocks, static_cast<unsigned>(fills.size()));
  fill_ranges<<<grid, kThreads, 0, stream>>>(packed<kMaxFills>(fills));
  return cudaGetLastError();
}

cudaError_t launch_gathers(std::span<const Gather> gathers, std::byte* staging,
                           cudaStream_t stream) {
  const dim3 grid(kFillBlocks, static_cast<unsigned>(gathers.size()));
  gather_ranges<<<grid, kThreads, 0, stream>>>(packed<kMaxGathers>(gathers), staging);
  return cudaGetLastError();
}

cudaError_t launch_zones(std::span<const Zone> zones, ZoneResult* results, cudaStream_t stream) {
  compare_zones<<<static_cast<unsigned>(zones.size()), kThreads, 0, stream>>>(
      packed<kMaxZones>(zones), results);
  return cudaGetLastError();
}

cudaError_t launch_company(int blocks, uint32_t epoch, const uint32_t* stop, uint32_t* scratch,
                           CompanySigns* signs, cudaStream_t stream) {
  keep_busy<<<blocks, kThreads, 0, stream>>>(epoch, stop, scratch, signs);
  return cudaGetLastError();
}

cudaError_t launch_spin(Spun* spun, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>(spun);
  return cudaGetLastError();
}

}  // namespace planegate::device_kernels
