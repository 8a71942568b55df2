#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gates/perf/ledger.h"

/// What paired samples of two variants say, and how far they can be trusted.
namespace planegate::perf {

/// One interleaved measurement A B B A: two samples of each, whose order cancels a linear drift.
struct Quad {
  double a1 = 0, b1 = 0, b2 = 0, a2 = 0;  ///< seconds, or the unit of a metric

  /// Of b against a: 1.02 where b takes 2 % more.
  double ratio() const { return (b1 + b2) / (a1 + a2); }
};

/// Share of intervals that hold the true median.
inline constexpr double kConfidence = 0.95;
/// Fewer quads have no interval worth the name.
inline constexpr int64_t kLeastQuads = 6;

/// The median ratio of b to a, as a difference in percent, with its bootstrap interval (percentiles
/// of the medians of 2000 resamples, drawn by hash(seed)).
/// @throws ContractError for fewer than kLeastQuads quads or a sample that is not finite and above
///         0.
Delta delta_of(std::span<const Quad> quads, uint64_t seed = 1);

/// faster or slower: the whole interval is beyond the bar. equivalent: all of it within. Else
/// undecided.
Comparison compared(const Delta& delta, double bar_percent);

/// The median of one variant's samples. @pre quads is not empty
double median_a(std::span<const Quad> quads);
double median_b(std::span<const Quad> quads);

/// What an A/A run tells of an A/B run of as many quads.
struct Noise {
  /// Share of 500 A/A runs, resampled with a and b swapped at random, that were called faster or
  /// slower.
  double false_positive_rate = 0;
  /// The smallest true difference, percent, whose whole interval would lie beyond the bar.
  double smallest_effect_percent = 0;
};

/// @throws ContractError as delta_of().
Noise noise_of(std::span<const Quad> a_against_a, double bar_percent, uint64_t seed = 1);

/// How many quads it would take until this interval, which crosses the bar and shrinks with the
/// square root of their number, lies on one side of it: more than these were. 0: the median is on
/// the bar, no number is enough.
int64_t quads_needed(const Delta& delta, double bar_percent, int64_t quads);

}  // namespace planegate::perf
