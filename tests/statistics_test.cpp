#include "gates/perf/statistics.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

namespace planegate::perf {
namespace {

/// Noise of +-`percent`, uniform; quads of a machine that drifts by 20 % over the run.
std::vector<Quad> quads(int n, double b_against_a, double noise_percent, uint64_t seed = 1) {
  std::vector<Quad> all;
  for (int i = 0; i < n; ++i) {
    const auto noisy = [&](uint64_t which) {
      const auto unit = static_cast<double>(payload(seed, static_cast<uint64_t>(i), which) >> 11);
      return 1 + noise_percent / 100 * (unit * 0x1p-52 - 1);
    };
    const double drift = 1 + 0.2 * i / n;
    all.push_back({drift * noisy(0), b_against_a * drift * noisy(1), b_against_a * drift * noisy(2),
                   drift * noisy(3)});
  }
  return all;
}

TEST(Delta, FindsAPlantedSlowdownOfTwoPercent) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Delta delta = delta_of(quads(30, 1.02, 0.8, seed));
    EXPECT_EQ(compared(delta, 1.5), Comparison::kSlower) << delta.low << " .. " << delta.high;
    EXPECT_NEAR(delta.percent, 2, 0.5);
  }
}

TEST(Delta, FindsAPlantedGain) {
  EXPECT_EQ(compared(delta_of(quads(30, 0.95, 1)), 1.5), Comparison::kFaster);
}

TEST(Delta, CallsAEquivalentToItself) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(compared(delta_of(quads(30, 1, 1, seed)), 1.5), Comparison::kEquivalent);
  }
}

TEST(Delta, IsUndecidedInNoiseAndSaysHowManyQuadsItWouldTake) {
  const Delta delta = delta_of(quads(8, 1.02, 30));
  EXPECT_EQ(compared(delta, 1.5), Comparison::kUndecided);
  EXPECT_GT(quads_needed(delta, 1.5, 8), 8);
  EXPECT_EQ(quads_needed({1.5, 1, 2}, 1.5, 8), 0);
  EXPECT_EQ(quads_needed({1, 0, 2}, 1.5, 8), 32);
  EXPECT_EQ(quads_needed({1, 0.9, 1.5}, 1.5, 20), 21) << "what was not enough is no advice";
  EXPECT_EQ(quads_needed({1, 0.9, 1.6}, 1.5, 20), 29) << "the side that crosses the bar counts";
}

TEST(Delta, IsTheSameForTheSameQuadsAndSeed) {
  const auto all = quads(20, 1.01, 5);
  EXPECT_EQ(delta_of(all, 7).low, delta_of(all, 7).low);
  EXPECT_EQ(delta_of(all, 7).high, delta_of(all, 7).high);
}

TEST(Delta, IntervalHoldsTheTruthAboutAsOftenAsItClaims) {
  int held = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Delta delta = delta_of(quads(30, 1.03, 6, seed), seed);
    held += delta.low <= 3 && 3 <= delta.high ? 1 : 0;
  }
  EXPECT_GE(held, 180);
}

TEST(Delta, RefusesFewQuadsAndSamplesThatAreNone) {
  EXPECT_THROW((void)delta_of(quads(5, 1, 1)), ContractError);
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto all = quads(10, 1, 1);
    all[3].b2 = bad;
    EXPECT_THROW((void)delta_of(all), ContractError) << bad;
  }
}

TEST(Noise, GrowsWithTheNoise) {
  const Noise quiet = noise_of(quads(20, 1, 0.5), 1.5);
  const Noise loud = noise_of(quads(20, 1, 20), 1.5);
  EXPECT_EQ(quiet.false_positive_rate, 0);
  EXPECT_LT(quiet.smallest_effect_percent, 2);
  EXPECT_GT(loud.smallest_effect_percent, 3);
}

TEST(Noise, CountsFalseAlarmsWhereThereIsNoBar) {
  const Noise noise = noise_of(quads(20, 1, 5), 0);
  EXPECT_GT(noise.false_positive_rate, 0.005);
  EXPECT_LT(noise.false_positive_rate, 0.2);
}

TEST(Medians, AreOfEachVariant) {
  const std::vector<Quad> all = {{1, 10, 20, 2}, {3, 30, 40, 4}};
  EXPECT_EQ(median_a(all), 2.5);
  EXPECT_EQ(median_b(all), 25);
}

}  // namespace
}  // namespace planegate::perf
