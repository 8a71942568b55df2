#include <algorithm>
#include <vector>

#include <planegate/devices/cuda_company.h>
#include <planegate/devices/cuda_device.h>

namespace planegate {
namespace {

const std::byte* pointer(DeviceAddress address) {
  return reinterpret_cast<const std::byte*>(address);
}

}  // namespace

void CudaDevice::check_zones(std::span<const device_kernels::Zone> zones,
                             std::span<device_kernels::ZoneResult> results) {
  stream();
  std::byte* const at = staging() + kStagingBytes;
  PLANEGATE_CUDA_CHECK(device_kernels::launch_zones(
      zones, reinterpret_cast<device_kernels::ZoneResult*>(at), stream_));
  const std::span<std::byte> target = std::as_writable_bytes(results);
  Chunk& chunk = acquire();
  PLANEGATE_CUDA_CHECK(
      cudaMemcpyAsync(chunk.pinned, at, target.size(), cudaMemcpyDeviceToHost, stream_));
  PLANEGATE_CUDA_CHECK(cudaEventRecord(chunk.landed, stream_));
  chunk.landings.push_back({0, target});
}

std::vector<std::optional<GuardBreach>> CudaDevice::breached_guards(
    std::span<const DeviceBuffer* const> buffers) {
  std::vector<device_kernels::Zone> zones;
  for (const DeviceBuffer* buffer : buffers) {
    require_own(*buffer);
    const auto fill = static_cast<uint8_t>(buffer->guard_fill());
    zones.push_back({pointer(buffer->address()) - kGuardBytes, fill});
    zones.push_back({pointer(buffer->address()) + buffer->size_bytes(), fill});
  }
  std::vector<device_kernels::ZoneResult> results(zones.size());
  try {
    for (size_t at = 0; at < zones.size(); at += device_kernels::kMaxZones) {
      const size_t count = std::min(device_kernels::kMaxZones, zones.size() - at);
      check_zones(std::span(zones).subspan(at, count), std::span(results).subspan(at, count));
    }
    synchronise();
  } catch (const DeviceError&) {
    drop_landings();
    throw;
  }
  std::vector<std::optional<GuardBreach>> breaches(buffers.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const device_kernels::ZoneResult& result = results[i];
    std::optional<GuardBreach>& breach = breaches[i / 2];
    if (result.first == device_kernels::ZoneResult::kIntact || breach) continue;
    const int64_t zone_at = i % 2 == 0 ? -kGuardBytes : buffers[i / 2]->size_bytes();
    breach = GuardBreach{zone_at + result.first, static_cast<std::byte>(result.value)};
  }
  return breaches;
}

std::optional<GuardBreach> CudaDevice::breached_guard(const DeviceBuffer& buffer) {
  const DeviceBuffer* const one = &buffer;
  return breached_guards({&one, 1}).front();
}

void CudaDevice::start_company() {
  stream();
  if (company_ == nullptr) {
    int sms = 0;
    PLANEGATE_CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, ordinal_));
    company_ = std::make_unique<CudaCompany>(sms);
  }
  company_->start();
}

bool CudaDevice::end_company() {
  return company_->end(stream());
}

}  // namespace planegate
