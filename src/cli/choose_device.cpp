#include "cli/choose_device.h"

#include "cli/exit_code.h"

namespace planegate::cli {

std::unique_ptr<Device> choose_device(const std::string& name) {
  if (name != "host") {
    std::string why_not;
    if (auto device = make_cuda_device(why_not)) return device;
    if (name == "cuda") throw CommandError(kNothingVerified, "--device cuda: " + why_not);
  }
  return make_host_device();
}

}  // namespace planegate::cli
