#include <sstream>

#include <planegate/devices/architecture.h>

namespace planegate {
namespace {

/// `90a` of `90a-real`.
std::string number_of(const std::string& target) {
  return target.substr(0, target.find('-'));
}

bool lists(const std::string& built, const std::string& number) {
  std::istringstream targets(built);
  for (std::string target; std::getline(targets, target, ',');) {
    if (number_of(target) == number) return true;
  }
  return false;
}

/// `sm_90` of `sm_90a`: what a device says of itself.
std::string of_device(const std::string& architecture) {
  const bool lettered = architecture.back() >= 'a' && architecture.back() <= 'z';
  return architecture.substr(0, architecture.size() - (lettered ? 1 : 0));
}

}  // namespace

std::optional<std::string> architecture_lacking(const std::string& needed, const std::string& here,
                                                const std::string& built) {
  if (of_device(needed) != here) return "cuda is " + here;
  if (!lists(built, needed.substr(std::string("sm_").size()))) {
    return "this build has no code for it (CMAKE_CUDA_ARCHITECTURES=" + built + ")";
  }
  return std::nullopt;
}

}  // namespace planegate
