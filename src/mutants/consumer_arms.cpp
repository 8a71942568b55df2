#include "mutants/consumer_arms.h"

#include "mutants/mutants.h"

namespace planegate::mutants {

std::vector<gates::Arm> consumer_arms() {
  std::vector<gates::Arm> all;
  for (auto* family : {address_consumer_arms, value_consumer_arms, shape_consumer_arms,
                       execution_consumer_arms, f16_consumer_arms}) {
    for (gates::Arm& arm : family()) all.push_back(std::move(arm));
  }
  return all;
}

}  // namespace planegate::mutants
