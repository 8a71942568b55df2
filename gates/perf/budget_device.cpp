#include <algorithm>

#include "gates/perf/budget.h"
#include "gates/perf/occupancy.h"

namespace planegate::perf {
namespace {

constexpr int64_t kStackUnitBytes = 16;

int64_t in_units(Quantity quantity, int64_t value) {
  const bool stack = quantity == Quantity::kStack;
  return stack ? (value + kStackUnitBytes - 1) / kStackUnitBytes : value;
}

std::map<Quantity, int64_t> by_quantity(const KernelAttributes& attributes) {
  return {{Quantity::kRegisters, attributes.registers},
          {Quantity::kStack, attributes.stack_bytes},
          {Quantity::kShared, attributes.shared_bytes},
          {Quantity::kBlocksPerSm, attributes.blocks_per_sm}};
}

void compare(const BuiltKernel& kernel, const KernelAttributes& attributes,
             std::vector<Breach>& found) {
  for (const auto& [quantity, value] : by_quantity(attributes)) {
    const int64_t reported = kernel.found.at(quantity);
    if (in_units(quantity, value) == in_units(quantity, reported)) continue;
    found.push_back({kernel.instance, kernel.architecture, text_of(quantity) + " on the device",
                     std::to_string(value), std::to_string(reported),
                     "the runtime and the compiler's report disagree"});
  }
}

}  // namespace

std::vector<Breach> disagreements(const Catalog& catalog, const std::vector<BuiltKernel>& built,
                                  Device& device) {
  std::vector<Breach> found;
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    for (const KernelEntry& kernel : consumer.kernels_on(device.kind())) {
      const auto attributes = device.attributes_of(kernel);
      if (!attributes) continue;
      const std::string instance = instance_name(consumer, kernel);
      const auto made = std::find_if(built.begin(), built.end(), [&](const BuiltKernel& one) {
        return one.instance == instance &&
               without_letter(one.architecture) == attributes->architecture;
      });
      if (made == built.end()) {
        found.push_back({instance, attributes->architecture, "report", "none", "one",
                         "the device runs code of an architecture that nobody reported on"});
      } else {
        compare(*made, *attributes, found);
      }
    }
  }
  return found;
}

}  // namespace planegate::perf
