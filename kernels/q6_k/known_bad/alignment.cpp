#include "kernels/q6_k/known_bad/alignment.h"

#include "kernels/q6_k/known_bad/families.h"
#include "kernels/q6_k/registration.h"

std::vector<planegate::ConsumerSpec> planegate::kernels::q6_k::bad_alignment() {
  return consumers(BadAlignment{}, nullptr);
}
