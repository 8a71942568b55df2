#include "tests/conformance/operations.h"

std::vector<planegate::conformance::Operation> planegate::conformance::host_operations() {
  return all_operations();
}
