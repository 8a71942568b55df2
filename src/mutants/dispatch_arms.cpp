#include "mutants/launches.h"
#include "mutants/mutants.h"

namespace planegate::mutants {

std::vector<gates::Arm> dispatch_arms() {
  std::vector<gates::Arm> all = mirror_arms();
  return all;
}

}  // namespace planegate::mutants
