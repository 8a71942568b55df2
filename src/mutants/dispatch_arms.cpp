#include "mutants/mutants.h"

namespace planegate::mutants {

std::vector<gates::Arm> dispatch_arms() {
  return {};
}

}  // namespace planegate::mutants
