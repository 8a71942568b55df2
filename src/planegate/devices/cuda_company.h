#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include <planegate/devices/cuda_kernels.h>

namespace planegate {

/// A kernel of no use on a stream of its own, which keeps an eighth of the SMs busy.
class CudaCompany {
 public:
  /// @throws DeviceError. The device is selected.
  explicit CudaCompany(int sms);
  ~CudaCompany();
  CudaCompany(const CudaCompany&) = delete;
  CudaCompany& operator=(const CudaCompany&) = delete;

  /// Launches it and waits, for a few milliseconds at most, until it runs.
  void start();
  /// Ends it once `beside` has run what is queued there. Waits. Returns whether it had started
  /// first and still ran then.
  bool end(cudaStream_t beside);

 private:
  void release() noexcept;

  int blocks_;
  cudaStream_t stream_ = nullptr;
  uint32_t* stop_ = nullptr;                                ///< device memory
  uint32_t* scratch_ = nullptr;                             ///< device memory
  volatile device_kernels::CompanySigns* signs_ = nullptr;  ///< pinned
  uint32_t epoch_ = 0;
  bool started_first_ = false;
};

}  // namespace planegate
