#include "mutants/mutants.h"

namespace planegate::mutants {

std::vector<gates::Arm> consumer_arms() {
  return {};
}

}  // namespace planegate::mutants
