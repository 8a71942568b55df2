#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <planegate/devices/cuda_device.h>

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

}  // namespace

CudaError::CudaError(cudaError_t code, const char* call, const char* file, int line)
    : DeviceError(failure_text(code, call, file, line)), code_(code) {}

bool loses_device(cudaError_t code) {
  switch (code) {
    case cudaErrorAssert:
    case cudaErrorContained:
    case cudaErrorContextIsDestroyed:
    case cudaErrorECCUncorrectable:
    case cudaErrorExternalDevice:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorMisalignedAddress:
    case cudaErrorMpsClientTerminated:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorTensorMemoryLeak:
      return true;
    default:
      return false;
  }
}

void detail::check_cuda(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  if (loses_device(code)) throw DeviceLost(failure_text(code, call, file, line));
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

}  // namespace planegate
