#include "gates/perf/ab.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

namespace planegate::perf {
namespace {

/// A clock of the tests' own: samples come from it, with noise of +-`noise` percent.
class Machine {
 public:
  Measure variant(double seconds, std::string name = "", double kernel_share = 0) {
    return [=, this] {
      order_ += name;
      const double unit = static_cast<double>(payload(7, ++drawn_) >> 11) * 0x1p-52 - 1;
      const double wall = seconds * (1 + noise_percent / 100 * unit);
      Sample sample{wall, std::nullopt};
      if (kernel_share > 0) sample.kernel = kernel_share * wall;
      return sample;
    };
  }
  const std::string& order() const { return order_; }

  double noise_percent = 0.5;

 private:
  uint64_t drawn_ = 0;
  std::string order_;
};

AbResult run(Machine& machine, double a, double b, int64_t quads = 20) {
  AbPlan plan;
  plan.a = machine.variant(a, "a");
  plan.b = machine.variant(b, "b");
  plan.quads = quads;
  return measure(plan);
}

TEST(Ab, InterleavesAfterAWarmUpAndAnAARun) {
  Machine machine;
  run(machine, 1, 1, 6);
  std::string expected = "abab";
  for (int i = 0; i < 6; ++i) expected += "aaaa";
  for (int i = 0; i < 6; ++i) expected += "abba";
  EXPECT_EQ(machine.order(), expected);
}

TEST(Ab, CallsAAgainstItselfEquivalent) {
  Machine machine;
  const AbResult result = run(machine, 1, 1);
  EXPECT_EQ(result.comparison, Comparison::kEquivalent);
  EXPECT_EQ(result.noise.false_positive_rate, 0);
  EXPECT_LT(result.noise.smallest_effect_percent, 2);
}

TEST(Ab, FindsAPlantedSlowdownOfTwoPercent) {
  Machine machine;
  const AbResult result = run(machine, 1, 1.02);
  EXPECT_EQ(result.comparison, Comparison::kSlower);
  EXPECT_NEAR(result.wall.delta.percent, 2, 0.4);
  EXPECT_NEAR(result.wall.a, 1, 0.01);
  EXPECT_NEAR(result.wall.b, 1.02, 0.01);
}

TEST(Ab, IsUndecidedInNoiseWithTheQuadsItWouldTake) {
  Machine machine;
  machine.noise_percent = 40;
  const AbResult result = run(machine, 1, 1.02, 8);
  EXPECT_EQ(result.comparison, Comparison::kUndecided);
  EXPECT_GT(result.quads_needed, 8);
  EXPECT_GT(result.noise.smallest_effect_percent, 5);
}

TEST(Ab, BelievesNoDifferenceBelowTheSmallestThatItCanSee) {
  Machine machine;
  AbPlan plan;
  plan.a = machine.variant(1);
  plan.b = machine.variant(1.05);
  plan.on_stage = [&](const std::string& stage) {
    machine.noise_percent = stage.starts_with("a against itself") ? 60 : 0.5;
  };
  const AbResult result = measure(plan);
  EXPECT_GT(result.wall.delta.low, plan.bar_percent);
  EXPECT_GT(result.noise.smallest_effect_percent, result.wall.delta.percent);
  EXPECT_EQ(result.comparison, Comparison::kUndecided);
  EXPECT_EQ(result.why_undecided, "the difference is smaller than what this run can see");
  EXPECT_GT(result.quads_needed, plan.quads);
}

TEST(Ab, DecidesByTheKernelAndPredictsTheWall) {
  Machine machine;
  AbPlan plan;
  plan.a = machine.variant(1, "a", 0.5);
  plan.b = [&, inner = machine.variant(1, "b", 0.5)] {
    Sample sample = inner();
    sample.kernel = *sample.kernel * 0.8;  // the wall is as it was
    return sample;
  };
  const AbResult result = measure(plan);
  EXPECT_EQ(result.comparison, Comparison::kFaster);
  ASSERT_TRUE(result.kernel && result.kernel_share && result.predicted_wall_percent);
  EXPECT_NEAR(*result.kernel_share, 0.5, 0.01);
  EXPECT_NEAR(*result.predicted_wall_percent, -10, 1);
  EXPECT_NEAR(result.wall.delta.percent, 0, 1);
}

TEST(Ab, DecidesNothingWhereTheClockMoved) {
  for (const double after : {1.8e9, 2.2e9}) {
    Machine machine;
    AbPlan plan;
    plan.a = machine.variant(1);
    plan.b = machine.variant(0.5);
    std::vector<double> clocks = {2.0e9, after};
    size_t read = 0;
    plan.clock_hz = [&] { return std::optional(clocks[read++]); };
    const AbResult result = measure(plan);
    EXPECT_EQ(result.comparison, Comparison::kUndecided);
    EXPECT_EQ(result.why_undecided,
              after < 2e9 ? "the clock fell by 10.0 %" : "the clock rose by 10.0 %");
  }
}

TEST(Ab, RefusesFewQuadsAndPassesOnWhatAMeasureThrows) {
  Machine machine;
  EXPECT_THROW(run(machine, 1, 1, 5), ContractError);
  AbPlan plan;
  plan.a = []() -> Sample { throw std::runtime_error("lost"); };
  plan.b = machine.variant(1);
  EXPECT_THROW(measure(plan), std::runtime_error);
}

}  // namespace
}  // namespace planegate::perf
