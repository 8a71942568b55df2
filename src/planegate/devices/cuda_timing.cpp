#include <fstream>
#include <memory>
#include <regex>
#include <type_traits>

#include <fmt/format.h>

#include <planegate/core/specs.h>
#include <planegate/devices/cuda_device.h>

/// What a measurement needs of a CUDA device beside its work.
namespace planegate {
namespace {

class Event {
 public:
  Event() { PLANEGATE_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { PLANEGATE_CUDA_RECORD(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { PLANEGATE_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  double seconds_since(const Event& begin) const {
    float milliseconds = 0;
    PLANEGATE_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.event_, event_));
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// `580.159.04` of /proc/driver/nvidia/version; `unknown` where it is not shown.
std::string kernel_module() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::smatch match;
  return std::regex_search(line, match, std::regex(R"(\b(\d+\.\d+(\.\d+)?)\b)")) ? match[1].str()
                                                                                 : "unknown";
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (const char byte : uuid.bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

std::string CudaDevice::driver() const {
  select();
  int version = 0;
  PLANEGATE_CUDA_CHECK(cudaDriverGetVersion(&version));
  cudaDeviceProp properties{};
  PLANEGATE_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal_));
  return fmt::format("CUDA {}.{}, module {}, {}", version / 1000, version % 1000 / 10,
                     kernel_module(), uuid_text(properties.uuid));
}

std::optional<DeviceMemory> CudaDevice::memory() {
  select();
  size_t free_bytes = 0, total_bytes = 0;
  PLANEGATE_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  return DeviceMemory{static_cast<int64_t>(free_bytes), static_cast<int64_t>(total_bytes)};
}

std::optional<KernelAttributes> CudaDevice::attributes_of(const KernelEntry& kernel) {
  select();
  cudaFuncAttributes attributes{};
  PLANEGATE_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel.function));
  const int dynamic = kernel.dynamic_shared_bytes;
  if (dynamic > 0) {
    PLANEGATE_CUDA_CHECK(cudaFuncSetAttribute(
        kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic));
  }
  int blocks = 0;
  PLANEGATE_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel.function, kernel.threads, static_cast<size_t>(dynamic)));
  return KernelAttributes{fmt::format("sm_{}", attributes.binaryVersion), attributes.numRegs,
                          static_cast<int64_t>(attributes.localSizeBytes),
                          static_cast<int64_t>(attributes.sharedSizeBytes) + dynamic, blocks};
}

double CudaDevice::timed_s(const std::function<void()>& work) {
  Event begin, end;
  synchronise();
  begin.record(stream());
  work();
  end.record(stream());
  synchronise();
  return end.seconds_since(begin);
}

std::optional<double> CudaDevice::clock_hz() {
  synchronise();
  auto* const spun = reinterpret_cast<device_kernels::Spun*>(staging());
  PLANEGATE_CUDA_CHECK(device_kernels::launch_spin(spun, stream_));
  device_kernels::Spun host;
  PLANEGATE_CUDA_CHECK(cudaMemcpyAsync(&host, spun, sizeof host, cudaMemcpyDeviceToHost, stream_));
  PLANEGATE_CUDA_CHECK(cudaStreamSynchronize(stream_));
  if (host.nanoseconds == 0) return std::nullopt;
  return static_cast<double>(host.cycles) / static_cast<double>(host.nanoseconds) * 1e9;
}

}  // namespace planegate
