#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include <planegate/core/shape.h>
#include <planegate/devices/host_device.h>

namespace planegate::fuzz {

/// The data of a format as it might come, beside the names of its extremes.
inline constexpr const char* kSample = "sample";

/// What a case varies beside shape and seed.
struct Knobs {
  std::string weights = kSample;      ///< `sample`, or an extreme of the weight format
  std::string activations = kSample;  ///< likewise of the activation format
  int lattice = 0;                    ///< which of gates::lattices()
  std::byte guard{0xA5};              ///< guard zones
  std::byte pad{0xA5};                ///< pad bytes of the twin that must give the same output
  Schedule::Order order = Schedule::Order::kAscending;  ///< lanes and warps, on host

  friend bool operator==(const Knobs&, const Knobs&) = default;
};

/// One generated case: a shape, the seed of its payloads and a few knobs.
struct Case {
  std::string format;
  Shape shape{1, 256, 1};
  uint64_t seed = 1;
  Knobs knobs;

  friend bool operator==(const Case&, const Case&) = default;
};

/// `ascending`, `descending`, `random`.
const char* text(Schedule::Order order);
/// `od=2 id=256 nsb=1 nt=1 seed=7 weights=sample activations=mixed lattice=0 guard=a5 pad=a5
/// order=ascending`
std::string text(const Case& c);
/// For RapidCheck.
void showValue(const Case& c, std::ostream& os);

}  // namespace planegate::fuzz
