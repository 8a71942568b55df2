#include "mutants/mutants.h"

namespace planegate::mutants {

std::vector<gates::Arm> producer_arms() {
  return {};
}

}  // namespace planegate::mutants
