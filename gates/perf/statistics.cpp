#include "gates/perf/statistics.h"

#include <algorithm>
#include <cmath>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

namespace planegate::perf {
namespace {

constexpr int kResamples = 2000;
constexpr int kNoiseRuns = 500;
/// Resamples of one of those runs: its interval is needed roughly only.
constexpr int kNoiseResamples = 200;

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void require_quads(std::span<const Quad> quads) {
  require(std::ssize(quads) >= kLeastQuads, "quads", std::ssize(quads), "at least 6");
  for (const Quad& quad : quads) {
    for (const double sample : {quad.a1, quad.b1, quad.b2, quad.a2}) {
      if (std::isfinite(sample) && sample > 0) continue;
      throw ContractError("sample", std::to_string(sample), "finite and above 0");
    }
  }
}

std::vector<double> ratios_of(std::span<const Quad> quads) {
  std::vector<double> ratios;
  for (const Quad& quad : quads) ratios.push_back(quad.ratio());
  return ratios;
}

/// The interval of the median of `ratios`.
Delta interval(const std::vector<double>& ratios, int resamples, uint64_t seed) {
  const auto n = static_cast<uint64_t>(ratios.size());
  std::vector<double> medians;
  std::vector<double> drawn(ratios.size());
  for (int resample = 0; resample < resamples; ++resample) {
    for (uint64_t i = 0; i < n; ++i) {
      drawn[i] = ratios[payload(seed, static_cast<uint64_t>(resample), i) % n];
    }
    medians.push_back(median(drawn));
  }
  std::sort(medians.begin(), medians.end());
  const auto at = [&](double share) {
    return medians[static_cast<size_t>(std::lround(share * (resamples - 1)))];
  };
  const auto percent = [](double ratio) { return (ratio - 1) * 100; };
  const double middle = percent(median(ratios));
  return {middle, std::min(middle, percent(at((1 - kConfidence) / 2))),
          std::max(middle, percent(at((1 + kConfidence) / 2)))};
}

double half_width(const Delta& delta) {
  return (delta.high - delta.low) / 2;
}

}  // namespace

Delta delta_of(std::span<const Quad> quads, uint64_t seed) {
  require_quads(quads);
  return interval(ratios_of(quads), kResamples, seed);
}

Comparison compared(const Delta& delta, double bar_percent) {
  if (delta.high < -bar_percent) return Comparison::kFaster;
  if (delta.low > bar_percent) return Comparison::kSlower;
  const bool within = delta.low >= -bar_percent && delta.high <= bar_percent;
  return within ? Comparison::kEquivalent : Comparison::kUndecided;
}

double median_a(std::span<const Quad> quads) {
  std::vector<double> samples;
  for (const Quad& quad : quads) samples.insert(samples.end(), {quad.a1, quad.a2});
  return median(std::move(samples));
}

double median_b(std::span<const Quad> quads) {
  std::vector<double> samples;
  for (const Quad& quad : quads) samples.insert(samples.end(), {quad.b1, quad.b2});
  return median(std::move(samples));
}

Noise noise_of(std::span<const Quad> a_against_a, double bar_percent, uint64_t seed) {
  require_quads(a_against_a);
  const std::vector<double> ratios = ratios_of(a_against_a);
  const auto n = static_cast<uint64_t>(ratios.size());
  int wrong = 0;
  std::vector<double> run(ratios.size());
  for (uint64_t r = 0; r < kNoiseRuns; ++r) {
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t drawn = payload(seed, r, i, 1);
      const double ratio = ratios[(drawn >> 1) % n];
      run[i] = (drawn & 1) != 0 ? 1 / ratio : ratio;
    }
    const Comparison said = compared(interval(run, kNoiseResamples, seed + r), bar_percent);
    if (said == Comparison::kFaster || said == Comparison::kSlower) ++wrong;
  }
  const Delta delta = interval(ratios, kResamples, seed);
  return {wrong / static_cast<double>(kNoiseRuns), bar_percent + half_width(delta)};
}

int64_t quads_needed(const Delta& delta, double bar_percent, int64_t quads) {
  const double distance = std::fabs(std::fabs(delta.percent) - bar_percent);
  if (distance == 0) return 0;
  const double reach = std::max(delta.high - delta.percent, delta.percent - delta.low);
  const double times = reach / distance;
  const double needed = std::ceil(static_cast<double>(quads) * times * times);
  return std::max(quads + 1, static_cast<int64_t>(std::min(1e12, needed)));
}

}  // namespace planegate::perf
