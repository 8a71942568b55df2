#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gates/perf/statistics.h"

/// A and B measured in turns. Knows nothing of what it times.
namespace planegate::perf {

/// One sample of a variant.
struct Sample {
  double wall = 0;               ///< seconds, or the unit of a metric
  std::optional<double> kernel;  ///< seconds by the device's clock
};

/// Runs the variant once and measures it. Throws what stops the run.
using Measure = std::function<Sample()>;

struct AbPlan {
  Measure a, b;
  int64_t quads = 20;  ///< of A B B A; as many of A A A A come first
  int64_t warm_up = 2;
  double bar_percent = 1.5;
  uint64_t seed = 1;
  /// Of the cores, in Hz, read before and after; nullopt: not told.
  std::function<std::optional<double>()> clock_hz = [] { return std::nullopt; };
  std::function<void(const std::string&)> on_stage = [](const std::string&) {};
};

/// Median times of one kind and what b is against a.
struct Measured {
  double a = 0, b = 0;
  Delta delta;
};

struct AbResult {
  Measured wall;
  std::optional<Measured> kernel;
  Noise noise;  ///< of what decides
  Comparison comparison = Comparison::kUndecided;
  int64_t quads = 0;
  /// Of what decides, where it is undecided: how many quads it would take; 0: no number is enough.
  int64_t quads_needed = 0;
  /// Time of a's kernels over its wall time.
  std::optional<double> kernel_share;
  /// share * kernel delta: what the wall should gain if nothing else changed, percent.
  std::optional<double> predicted_wall_percent;
  std::optional<double> clock_before_hz, clock_after_hz;
  std::string why_undecided;  ///< beside the interval: `the clock fell by 7.1 %`

  /// What decides: the kernel where it was measured, else the wall.
  const Measured& deciding() const { return kernel ? *kernel : wall; }
};

/// A/A first, then A B B A, warmed up. The clock may not move by more than 3 %: then nothing is
/// decided.
/// @throws ContractError for fewer than kLeastQuads quads or samples that are not above 0, and what
///         the measures throw.
AbResult measure(const AbPlan& plan);

}  // namespace planegate::perf
