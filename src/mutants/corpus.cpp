#include "mutants/mutants.h"

namespace planegate::mutants {

std::vector<gates::Arm> all_arms() {
  std::vector<gates::Arm> all;
  for (auto* arms : {producer_arms, upload_arms, maker_arms, consumer_arms, dispatch_arms,
                     address_arms}) {
    for (gates::Arm& arm : arms()) all.push_back(std::move(arm));
  }
  return all;
}

// Every class has an arm.
std::vector<AbsentClass> absent_classes() {
  return {};
}

}  // namespace planegate::mutants
