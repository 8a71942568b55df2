#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>

#include "catalog/catalog.h"
#include "fuzz/run_case.h"
#include "fuzz/shapes.h"
#include "fuzz/soak.h"
#include "tests/failing_device.h"

/// The generator, its shards and histogram, the file of a case.
namespace planegate::fuzz {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr const char* kFormat = "q6_K";
constexpr const char* kBad = "w_exp/cp_async+padded_address";

Generator whole_sweep(uint64_t seed = 1) {
  return Generator(shipped_catalog(), kFormat, {}, {}, seed);
}

Histogram generated(const Generator& generator, int64_t cases, const Shard& shard = {}) {
  Histogram histogram;
  for (int64_t number = 0; histogram.cases() < cases; ++number) {
    const Shape shape = generator.at(number).shape;
    if (shard.has(number)) histogram.add(shape, std::ssize(generator.consumers(shape)));
  }
  return histogram;
}

TEST(FuzzGenerator, GivesEveryValueOfTheSweepOnePercentOfTwentyThousandCases) {
  for (const uint64_t seed : {1, 2, 77}) {
    const Generator generator = whole_sweep(seed);
    const Histogram histogram = generated(generator, 20000);
    EXPECT_THAT(histogram.rare(generator), IsEmpty()) << "seed " << seed;
    EXPECT_EQ(histogram.axis(0).size(), kOd.size());
    EXPECT_EQ(histogram.axis(1).size(), kNsb.size());
    EXPECT_EQ(histogram.axis(2).size(), kNt.size());
  }
}

TEST(FuzzGenerator, BoundsTheTilesOfACase) {
  const Generator generator = whole_sweep();
  for (int64_t number = 0; number < 5000; ++number) {
    const Shape shape = generator.at(number).shape;
    const int64_t tiles = (shape.od() + 63) / 64 * shape.nsb() * ((shape.nt() + 63) / 64);
    ASSERT_LE(tiles, Limits{}.max_tiles) << shape.text();
  }
}

TEST(FuzzGenerator, DrawsEveryKnob) {
  const Generator generator = whole_sweep();
  std::set<std::string> weights, activations;
  std::set<int> lattices, orders, guards, pads;
  for (int64_t number = 0; number < 3000; ++number) {
    const Knobs knobs = generator.at(number).knobs;
    weights.insert(knobs.weights);
    activations.insert(knobs.activations);
    lattices.insert(knobs.lattice);
    orders.insert(static_cast<int>(knobs.order));
    guards.insert(static_cast<int>(knobs.guard));
    pads.insert(static_cast<int>(knobs.pad));
  }
  EXPECT_EQ(weights.size(), shipped_catalog().format(kFormat)->extremes.size() + 1);
  EXPECT_EQ(activations.size(), shipped_catalog().format("q8_0")->extremes.size() + 1);
  EXPECT_GE(weights.size(), 25u);
  EXPECT_GE(activations.size(), 20u);
  EXPECT_EQ(lattices.size(), 4u);
  EXPECT_EQ(orders.size(), 3u);
  EXPECT_EQ(guards.size(), 4u);
  EXPECT_EQ(pads.size(), 4u);
}

TEST(FuzzGenerator, LeavesOutSizesThatNoChosenConsumerTakes) {
  const Generator generator(shipped_catalog(), kFormat, {"padded/decode"}, {9, 3, 256, 120}, 1);
  EXPECT_EQ(generator.nt(), (std::vector<int64_t>{1, 2, 3, 8}));
  EXPECT_EQ(generator.od(), (std::vector<int64_t>{1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(generator.nsb(), (std::vector<int64_t>{1, 2, 3}));
  for (int64_t number = 0; number < 200; ++number) {
    EXPECT_EQ(generator.consumers(generator.at(number).shape).size(), 1u);
  }
}

TEST(FuzzHistogram, NamesValuesBelowOnePercent) {
  const Generator generator(shipped_catalog(), kFormat, {}, {2, 1, 1, 120}, 1);
  Histogram histogram;
  histogram.add(Shape(1, 256, 1), 996);
  histogram.add(Shape(2, 256, 1), 4);
  EXPECT_EQ(histogram.rare(generator), std::vector<std::string>{"od 2 (0.40 %)"});
}

TEST(FuzzShards, AreDisjointAndTogetherTheWhole) {
  constexpr int64_t kNumbers = 1000;
  for (const int64_t total : {1, 2, 3, 7}) {
    std::vector<int> owners(kNumbers);
    for (int64_t index = 0; index < total; ++index) {
      const Shard shard = parse_shard(std::to_string(total).c_str(), std::to_string(index).c_str());
      for (int64_t n = 0; n < kNumbers; ++n) owners[static_cast<size_t>(n)] += shard.has(n);
    }
    EXPECT_THAT(owners, testing::Each(1)) << total;
  }
}

SoakPlan small_plan(const Catalog& catalog, const Generator& generator, int64_t cases) {
  return {catalog, generator, cases, {}, {}, 2, make_host_device};
}

TEST(FuzzShards, RunTheCasesOfTheUnshardedRun) {
  const Generator generator(shipped_catalog(), kFormat, {}, {3, 2, 3, 120}, 5);
  SoakPlan plan = small_plan(shipped_catalog(), generator, 100);
  const SoakResult whole = soak(plan);
  EXPECT_EQ(whole.histogram.cases(), 100);
  EXPECT_EQ(whole.red + whole.skipped, 0);
  std::map<int64_t, int64_t> od;
  int64_t cases = 0, tensors = 0;
  for (int64_t index = 0; index < 3; ++index) {
    plan.shard = {index, 3};
    const SoakResult part = soak(plan);
    for (const auto& [value, count] : part.histogram.axis(0)) od[value] += count;
    cases += part.histogram.cases();
    tensors += part.tensors;
    EXPECT_LT(part.tensors, whole.tensors);
  }
  EXPECT_EQ(cases, 100);
  EXPECT_EQ(tensors, whole.tensors);
  EXPECT_EQ(od, whole.histogram.axis(0));
}

TEST(FuzzShards, AreRefusedWhereTheEnvironmentIsMalformed) {
  const struct {
    const char *total, *index, *why;
  } cases[] = {
      {"3", nullptr, "GTEST_SHARD_INDEX=not set: a number, since GTEST_TOTAL_SHARDS is set"},
      {nullptr, "0", "GTEST_TOTAL_SHARDS=not set: a number, since GTEST_SHARD_INDEX is set"},
      {"x", "0", "GTEST_TOTAL_SHARDS=x: a whole number of at least 1"},
      {"0", "0", "GTEST_TOTAL_SHARDS=0: a whole number of at least 1"},
      {"-2", "0", "GTEST_TOTAL_SHARDS=-2: a whole number of at least 1"},
      {"3", "3", "GTEST_SHARD_INDEX=3: a whole number from 0 to 2"},
      {"3", "1.5", "GTEST_SHARD_INDEX=1.5: a whole number from 0 to 2"},
      {"99999999999999999999", "0",
       "GTEST_TOTAL_SHARDS=99999999999999999999: a whole number of at least 1"}};
  for (const auto& c : cases) {
    EXPECT_THAT([&] { parse_shard(c.total, c.index); }, ThrowsMessage<ContractError>(c.why));
  }
  EXPECT_EQ(parse_shard(nullptr, nullptr).total, 1);
}

TEST(FuzzSoak, StopsAtARedCaseAndShrinksItToOneUseOfOneStride) {
  const Catalog catalog = catalog_with_known_bad();
  for (const uint64_t seed : {1, 2, 3}) {
    const Generator generator(catalog, kFormat, {kBad}, {257, 8, 129, 24}, seed);
    const SoakPlan plan = small_plan(catalog, generator, 1000);
    const SoakResult result = soak(plan);
    ASSERT_TRUE(result.first_red);
    EXPECT_LT(result.histogram.cases(), 100);
    const auto device = make_host_device();
    const CaseFile smallest = shrunk(plan, *device, *result.first_red);
    const Shape& shape = smallest.c.shape;
    EXPECT_TRUE(shape == Shape(2, 256, 1) || shape == Shape(1, 512, 1)) << shape.text();
    EXPECT_EQ(smallest.c.knobs, Knobs{});
    EXPECT_EQ(smallest.c.seed, 1u);
    EXPECT_EQ(smallest.consumer, kBad);
    EXPECT_EQ(smallest.part, "lattice");
  }
}

TEST(FuzzSoak, ThrowsWhatADeviceThrew) {
  const Generator generator = whole_sweep();
  SoakPlan plan = small_plan(shipped_catalog(), generator, 10);
  plan.make_device = []() -> std::unique_ptr<Device> { throw DeviceError("no memory"); };
  EXPECT_THAT([&] { soak(plan); }, ThrowsMessage<DeviceError>("no memory"));
}

TEST(FuzzSoak, KeepsTheCasesThatWereUnderWayWhenTheDeviceWasLost) {
  const Generator generator = whole_sweep();
  SoakPlan plan = small_plan(shipped_catalog(), generator, 1000);
  plan.threads = 1;
  plan.make_device = [] {
    auto device = std::make_unique<test::FailingDevice>();
    device->calls_until_lost = 2000;
    return device;
  };
  const SoakResult result = soak(plan);
  ASSERT_EQ(result.lost.size(), 1u);
  EXPECT_EQ(result.red, 1);
  EXPECT_FALSE(result.first_red);
  EXPECT_THAT(result.lost.front().diagnosis, testing::StartsWith("device lost: "));
  EXPECT_GT(result.histogram.cases(), 1);
  EXPECT_LT(result.histogram.cases(), 1000);
}

TEST(FuzzCase, IsGreenOnEveryExtreme) {
  const Shape shape(9, 512, 3);
  const auto consumer = shipped_catalog().consumer("w_exp/cp_async+w_dsc");
  const auto device = make_host_device();
  for (const char* format : {"q6_K", "q8_0"}) {
    for (const Extreme& extreme : shipped_catalog().format(format)->extremes) {
      Case c{kFormat, shape, 1, {}};
      (std::string(format) == kFormat ? c.knobs.weights : c.knobs.activations) = extreme.name;
      const GateReport report = run_case(shipped_catalog(), *device, c, {consumer}).front();
      EXPECT_EQ(report.verdict, Verdict::kPass) << text(c) << "\n" << text(report);
    }
  }
}

TEST(FuzzCase, RefusesDataAndLatticesThatThereAreNot) {
  const auto consumer = shipped_catalog().consumer("raw/expand");
  const auto device = make_host_device();
  const auto run = [&](const Knobs& knobs) {
    return run_case(shipped_catalog(), *device, {kFormat, Shape(1, 256, 1), 1, knobs}, {consumer});
  };
  EXPECT_THAT([&] { run({"mixd"}); },
              ThrowsMessage<UnknownKnob>(HasSubstr("knobs.weights: 'mixd' is no data of q6_K")));
  EXPECT_THAT(
      [&] {
        run({kSample, "mixd"});
      },
      ThrowsMessage<UnknownKnob>(HasSubstr("knobs.activations: 'mixd' is no data")));
  EXPECT_THAT(
      [&] {
        run({kSample, kSample, 4});
      },
      ThrowsMessage<UnknownKnob>("knobs.lattice: 4 is not in 0..3"));
}

}  // namespace
}  // namespace planegate::fuzz
