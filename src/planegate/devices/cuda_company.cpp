#include <algorithm>
#include <chrono>

#include <planegate/devices/cuda_company.h>
#include <planegate/devices/cuda_device.h>

namespace planegate {
namespace {

constexpr int kScratchWords = 256;
constexpr uint32_t kEpochs = 250;
constexpr auto kStartLimit = std::chrono::milliseconds(5);

}  // namespace

CudaCompany::CudaCompany(int sms) : blocks_(std::max(1, sms / 8)) {
  try {
    PLANEGATE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    PLANEGATE_CUDA_CHECK(cudaMalloc(&stop_, sizeof(uint32_t)));
    PLANEGATE_CUDA_CHECK(cudaMemsetAsync(stop_, 0, sizeof(uint32_t), stream_));
    const auto scratch_bytes = static_cast<size_t>(blocks_) * kScratchWords * sizeof(uint32_t);
    PLANEGATE_CUDA_CHECK(cudaMalloc(&scratch_, scratch_bytes));
    PLANEGATE_CUDA_CHECK(cudaMemsetAsync(scratch_, 0, scratch_bytes, stream_));
    void* signs = nullptr;
    PLANEGATE_CUDA_CHECK(cudaMallocHost(&signs, sizeof(device_kernels::CompanySigns)));
    signs_ = new (signs) device_kernels::CompanySigns;
  } catch (const DeviceError&) {
    release();
    throw;
  }
}

CudaCompany::~CudaCompany() {
  release();
}

void CudaCompany::release() noexcept {
  if (stream_ != nullptr) {
    PLANEGATE_CUDA_RECORD(cudaStreamSynchronize(stream_));
    PLANEGATE_CUDA_RECORD(cudaStreamDestroy(stream_));
  }
  if (stop_ != nullptr) PLANEGATE_CUDA_RECORD(cudaFree(stop_));
  if (scratch_ != nullptr) PLANEGATE_CUDA_RECORD(cudaFree(scratch_));
  if (signs_ != nullptr) {
    PLANEGATE_CUDA_RECORD(cudaFreeHost(const_cast<device_kernels::CompanySigns*>(signs_)));
  }
}

void CudaCompany::start() {
  epoch_ = epoch_ % kEpochs + 1;
  auto* const signs = const_cast<device_kernels::CompanySigns*>(signs_);
  PLANEGATE_CUDA_CHECK(
      device_kernels::launch_company(blocks_, epoch_, stop_, scratch_, signs, stream_));
  const auto until = std::chrono::steady_clock::now() + kStartLimit;
  started_first_ = false;
  while (!started_first_ && std::chrono::steady_clock::now() < until) {
    started_first_ = signs_->started == epoch_;
  }
}

bool CudaCompany::end(cudaStream_t beside) {
  PLANEGATE_CUDA_CHECK(cudaMemsetAsync(stop_, static_cast<int>(epoch_), sizeof(uint32_t), beside));
  PLANEGATE_CUDA_CHECK(cudaStreamSynchronize(stream_));
  return started_first_ && signs_->ended == epoch_;
}

}  // namespace planegate
