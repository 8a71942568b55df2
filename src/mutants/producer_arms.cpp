#include "mutants/mutants.h"
#include "mutants/plane_edits.h"

namespace planegate::mutants {

std::vector<gates::Arm> producer_arms() {
  std::vector<gates::Arm> all;
  for (auto* arms :
       {block_plane_arms, w_exp_arms, w_dsc_arms, activation_plane_arms, quantiser_arms}) {
    for (gates::Arm& arm : arms()) all.push_back(std::move(arm));
  }
  return all;
}

}  // namespace planegate::mutants
