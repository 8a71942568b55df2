#include "gates/perf/ab.h"

#include <cmath>

#include <fmt/format.h>

#include <planegate/core/errors.h>

namespace planegate::perf {
namespace {

constexpr double kClockPercent = 3;

/// The quads of both kinds of time; those of kernels are left out where a sample had none.
struct Quads {
  std::vector<Quad> wall, kernel;

  void add(const Sample& a1, const Sample& b1, const Sample& b2, const Sample& a2) {
    wall.push_back({a1.wall, b1.wall, b2.wall, a2.wall});
    if (a1.kernel && b1.kernel && b2.kernel && a2.kernel) {
      kernel.push_back({*a1.kernel, *b1.kernel, *b2.kernel, *a2.kernel});
    }
  }
  /// What decides.
  const std::vector<Quad>& deciding() const { return kernel.size() == wall.size() ? kernel : wall; }
};

Quads interleaved(const AbPlan& plan, const Measure& b, const std::string& what) {
  Quads quads;
  for (int64_t i = 0; i < plan.quads; ++i) {
    plan.on_stage(fmt::format("{}: {} of {}", what, i + 1, plan.quads));
    const Sample a1 = plan.a();
    const Sample b1 = b();
    const Sample b2 = b();
    const Sample a2 = plan.a();
    quads.add(a1, b1, b2, a2);
  }
  return quads;
}

Measured measured(const std::vector<Quad>& quads, uint64_t seed) {
  return {median_a(quads), median_b(quads), delta_of(quads, seed)};
}

/// Empty where the clock stood still, or is not told.
std::string clock_moved(const std::optional<double>& before, const std::optional<double>& after) {
  if (!before || !after) return "";
  const double percent = (*after / *before - 1) * 100;
  if (std::fabs(percent) <= kClockPercent) return "";
  return fmt::format("the clock {} by {:.1f} %", percent < 0 ? "fell" : "rose", std::fabs(percent));
}

void predict(AbResult& result) {
  if (!result.kernel) return;
  result.kernel_share = result.kernel->a / result.wall.a;
  result.predicted_wall_percent = *result.kernel_share * result.kernel->delta.percent;
}

}  // namespace

AbResult measure(const AbPlan& plan) {
  require(plan.quads >= kLeastQuads, "quads", plan.quads, "at least 6");
  for (int64_t i = 0; i < plan.warm_up; ++i) {
    plan.on_stage("warm-up");
    plan.a();
    plan.b();
  }
  AbResult result;
  result.quads = plan.quads;
  result.clock_before_hz = plan.clock_hz();
  const Quads same = interleaved(plan, plan.a, "a against itself");
  const Quads quads = interleaved(plan, plan.b, "a against b");
  result.clock_after_hz = plan.clock_hz();
  result.wall = measured(quads.wall, plan.seed);
  if (&quads.deciding() == &quads.kernel) result.kernel = measured(quads.kernel, plan.seed);
  result.noise = noise_of(same.deciding(), plan.bar_percent, plan.seed);
  predict(result);
  result.why_undecided = clock_moved(result.clock_before_hz, result.clock_after_hz);
  if (!result.why_undecided.empty()) return result;
  const Delta& delta = result.deciding().delta;
  result.comparison = compared(delta, plan.bar_percent);
  if (result.comparison == Comparison::kUndecided) {
    result.quads_needed = quads_needed(delta, plan.bar_percent, plan.quads);
    result.why_undecided = "the interval lies on both sides of the bar";
  } else if (result.comparison != Comparison::kEquivalent &&
             std::fabs(delta.percent) < result.noise.smallest_effect_percent) {
    result.comparison = Comparison::kUndecided;
    const double reach = result.noise.smallest_effect_percent - plan.bar_percent;
    result.quads_needed =
        quads_needed({delta.percent, delta.percent - reach, delta.percent + reach},
                     plan.bar_percent, plan.quads);
    result.why_undecided = "the difference is smaller than what this run can see";
  }
  return result;
}

}  // namespace planegate::perf
