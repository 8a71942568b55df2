#include "kernels/q6_k/consumers.h"
#include "kernels/q6_k/known_bad/families.h"

namespace planegate::kernels::q6_k {

std::vector<ConsumerSpec> known_bad_consumers() {
  std::vector<ConsumerSpec> all;
  for (auto* family :
       {bad_addresses, bad_values, bad_shapes, bad_execution, bad_half, bad_alignment}) {
    for (ConsumerSpec& consumer : family()) all.push_back(std::move(consumer));
  }
  return all;
}

}  // namespace planegate::kernels::q6_k
