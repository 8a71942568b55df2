#include "fuzz/case.h"

#include <fmt/format.h>

namespace planegate::fuzz {

const char* text(Schedule::Order order) {
  switch (order) {
    case Schedule::Order::kAscending:
      return "ascending";
    case Schedule::Order::kDescending:
      return "descending";
    case Schedule::Order::kRandom:
      return "random";
  }
  return "unknown";
}

std::string text(const Case& c) {
  const Knobs& knobs = c.knobs;
  return fmt::format(
      "{} seed={} weights='{}' activations='{}' lattice={} guard={:02x} pad={:02x} order={}",
      c.shape.text(), c.seed, knobs.weights, knobs.activations, knobs.lattice,
      static_cast<unsigned>(knobs.guard), static_cast<unsigned>(knobs.pad), text(knobs.order));
}

void showValue(const Case& c, std::ostream& os) {
  os << text(c);
}

}  // namespace planegate::fuzz
