#include "tests/conformance/operations.h"

std::vector<planegate::conformance::Operation> planegate::conformance::cuda_operations() {
  return all_operations();
}
