#include <planegate/devices/device.h>

namespace planegate {

std::unique_ptr<Device> make_cuda_device(std::string& why_not) {
  why_not = "built without CUDA";
  return nullptr;
}

}  // namespace planegate
