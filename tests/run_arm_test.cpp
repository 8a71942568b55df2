#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "gates/address_mutations.h"
#include "gates/judged_arms.h"
#include "gates/kill_matrix.h"
#include "tests/failing_device.h"

/// The matrix itself must be able to go red: arms whose expectation is wrong.
namespace planegate::gates {
namespace {

constexpr const char* kGood = "w_exp/cp_async";
constexpr const char* kBad = "w_exp/cp_async+padded_address";

const Catalog& catalog() {
  static const Catalog all = catalog_with_known_bad();
  return all;
}

Arm arm_of(const char* consumer, const Verdicts& expected, std::vector<std::string> must_name) {
  Arm arm;
  arm.name = "a";
  arm.plane = "w_exp";
  arm.consumer = consumer;
  arm.shape = Shape(3, 512, 2);
  arm.expected = expected;
  arm.must_name = std::move(must_name);
  return arm;
}

Outcome outcome_of(const Arm& arm) {
  return run_arm(catalog(), arm, DeviceKind::kHost).outcome;
}

TEST(RunArm, KillsWhatIsRedWhereItShouldBeAndRightlyNamed) {
  EXPECT_EQ(outcome_of(arm_of(kBad, kParityRed, {"row stride 448"})), Outcome::kKilled);
}

TEST(RunArm, ReportsAFaultThatNoGateSees) {
  EXPECT_EQ(outcome_of(arm_of(kGood, kParityRed, {"row stride"})), Outcome::kSurvived);
}

TEST(RunArm, ReportsAFaultThatAnotherGateSees) {
  EXPECT_EQ(outcome_of(arm_of(kBad, kMirrorRed, {"row stride 448"})), Outcome::kWrongGate);
}

TEST(RunArm, ReportsAFaultThatIsCalledSomethingElse) {
  EXPECT_EQ(outcome_of(arm_of(kBad, kParityRed, {"row stride 449"})), Outcome::kMisnamed);
}

TEST(RunArm, HoldsAnEquivalentArmToGreen) {
  Arm arm = arm_of(kGood, {}, {});
  arm.equivalent = true;
  EXPECT_EQ(outcome_of(arm), Outcome::kEquivalent);
  arm.consumer = kBad;
  EXPECT_EQ(outcome_of(arm), Outcome::kWrongGate);
}

TEST(RunArm, DoesNotRunWhereTheConsumerDoesNot) {
  Catalog without = catalog();
  ConsumerSpec consumer = *without.consumer(kGood);
  consumer.launches.clear();
  without.replace(std::move(consumer));
  const ArmResult result = run_arm(without, arm_of(kGood, {}, {}), DeviceKind::kHost);
  EXPECT_EQ(result.outcome, Outcome::kNotRun);
  EXPECT_EQ(result.told, "does not run on host");
}

TEST(RunArm, ExpectsNothingOfADeviceThatIsLost) {
  Arm arm = arm_of(kGood, kParityRed, {"device lost"});
  arm.device = [](DeviceKind, std::string&) {
    auto device = std::make_unique<test::FailingDevice>();
    device->calls_until_lost = 20;
    return device;
  };
  const ArmResult result = run_arm(catalog(), arm, DeviceKind::kHost);
  EXPECT_TRUE(result.device_lost);
  EXPECT_FALSE(result.as_expected());
}

TEST(Score, CountsEachOutcome) {
  Score score;
  for (const Outcome outcome :
       {Outcome::kKilled, Outcome::kKilled, Outcome::kSurvived, Outcome::kWrongGate,
        Outcome::kMisnamed, Outcome::kEquivalent, Outcome::kHidden, Outcome::kNotRun}) {
    ArmResult result;
    result.outcome = outcome;
    score.add(result);
    EXPECT_EQ(result.as_expected(), outcome == Outcome::kKilled ||
                                        outcome == Outcome::kEquivalent ||
                                        outcome == Outcome::kHidden || outcome == Outcome::kNotRun);
  }
  EXPECT_EQ(score.text(),
            "8 arms: 2 killed, 1 equivalent, 1 survived, 1 by the wrong gate, 1 misnamed, 1 "
            "hidden, 1 not run");
}

TEST(AddressMutations, AreEquivalentWhereTheShapeHidesThem) {
  const Contract& plane = *catalog().consumer(kGood)->reads.front().plane;
  const Field& codes = plane.fields.front();
  size_t hidden = 0, shown = 0;
  for (const AddressMutation& one : address_mutations(catalog(), plane, codes, Shape(1, 256, 1))) {
    if (!one.name.starts_with("row stride")) continue;
    EXPECT_TRUE(one.equivalent) << one.name << ": one row has no stride";
    ++hidden;
  }
  for (const AddressMutation& one : address_mutations(catalog(), plane, codes, Shape(2, 256, 1))) {
    if (!one.name.starts_with("row stride")) continue;
    EXPECT_FALSE(one.equivalent) << one.name;
    ++shown;
  }
  EXPECT_GT(hidden, 0u);
  EXPECT_GT(shown, 0u);
}

class Bench : public testing::Test {
 protected:
  JudgedArm judge(const char* consumer) {
    IncumbentBench bench(catalog(), DeviceKind::kHost, int64_t{1} << 22);
    return bench.judge(arm_of(consumer, {}, {}));
  }
};

TEST_F(Bench, EveryJudgeAcceptsCleanCodeAtTheShapesThatRun) {
  const JudgedArm clean = judge(kGood);
  size_t own = 0;
  for (size_t i = 0; i < incumbents().size(); ++i) {
    EXPECT_EQ(clean.ours[i], Judged::kAccepts) << incumbents()[i].project;
    EXPECT_TRUE(clean.own[i] == Judged::kAccepts || clean.own[i] == Judged::kNotRun);
    own += clean.own[i] == Judged::kAccepts ? 1 : 0;
  }
  EXPECT_GE(own, 3u);
}

TEST_F(Bench, TheStrideBugHidesAtOneSuperBlockOnly) {
  const JudgedArm bad = judge(kBad);
  EXPECT_EQ(bad.ours[0], Judged::kRejects);
  EXPECT_EQ(bad.own[1], Judged::kRejects) << "14 super-blocks a row";
}

TEST_F(Bench, FaultsThatStopARunAreNoVerdictOfAJudge) {
  IncumbentBench bench(catalog(), DeviceKind::kHost, int64_t{1} << 20);
  Arm arm = arm_of(kGood, {}, {});
  arm.plant = [](Catalog& planted) {
    ConsumerSpec consumer = *planted.consumer(kGood);
    consumer.launches = {{DeviceKind::kHost, [](Device&, const LaunchRequest&) {
                            throw std::runtime_error("no launch");
                          }}};
    planted.replace(std::move(consumer));
  };
  for (const Judged judged : bench.judge(arm).ours) EXPECT_EQ(judged, Judged::kStopped);
}

}  // namespace
}  // namespace planegate::gates
