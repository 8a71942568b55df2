#include "gates/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planegate::gates {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ConsumerSpec consumer(std::string name, std::string address, std::string staging) {
  ConsumerSpec spec;
  spec.name = std::move(name);
  spec.policies = {
      {"address", std::move(address)}, {"staging", std::move(staging)}, {"scales", "raw"}};
  return spec;
}

GateReport parity(Verdict verdict, uint64_t fingerprint = 0) {
  GateReport report;
  report.verdict = verdict;
  report.difference.fingerprint = fingerprint;
  report.difference.count = verdict == Verdict::kFail ? 1 : 0;
  return report;
}

const ConsumerSpec kControl = consumer("control", "raw", "expand");
const ConsumerSpec kA = consumer("a", "padded", "bytewise");
const ConsumerSpec kB = consumer("b", "padded", "copy16");
const GateReport kGreen = parity(Verdict::kPass);
const GateReport kRed1 = parity(Verdict::kFail, 1);
const GateReport kRed2 = parity(Verdict::kFail, 2);

TEST(Diagnosis, NamesThePolicyThatOnlyTheFailingShare) {
  const auto groups = diagnose({{&kControl, &kGreen}, {&kA, &kRed1}, {&kB, &kRed1}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].suspects, ElementsAre(Policy{"address", "padded"}));
  EXPECT_THAT(groups[0].cleared, ElementsAre(Policy{"scales", "raw"}, Policy{"staging", "bytewise"},
                                             Policy{"staging", "copy16"}));
  EXPECT_THAT(groups[0].text(), HasSubstr("2 variants fail with one bit-identical difference"));
}

TEST(Diagnosis, KeepsDifferentDifferencesApart) {
  const auto groups = diagnose({{&kControl, &kGreen}, {&kA, &kRed1}, {&kB, &kRed2}});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].text(), HasSubstr("a fails alone"));
}

TEST(Diagnosis, WithoutAPassingVariantEverythingSharedIsSuspect) {
  const auto groups = diagnose({{&kA, &kRed1}, {&kB, &kRed1}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].suspects,
              ElementsAre(Policy{"address", "padded"}, Policy{"scales", "raw"}));
}

TEST(Diagnosis, SaysSoWhenNoPolicyIsTheirsAlone) {
  const auto groups = diagnose({{&kA, &kGreen}, {&kA, &kRed1}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].suspects.empty());
  EXPECT_THAT(groups[0].text(), HasSubstr("no policy is theirs alone"));
}

TEST(Diagnosis, GroupsFaultsByTheirKindAndDoesNotCallThemADifference) {
  GateReport wait = parity(Verdict::kFail), race = parity(Verdict::kFail);
  wait.difference.count = race.difference.count = 0;
  wait.diagnosis = "copy not waited for: block (0, 0), thread 3";
  race.diagnosis = "race on shared memory: block (0, 0), thread 5";
  const auto groups = diagnose({{&kControl, &kGreen}, {&kA, &wait}, {&kB, &wait}, {&kA, &race}});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].text(), HasSubstr("2 variants fail with the same kind of fault"));
  EXPECT_THAT(groups[1].text(), HasSubstr("a fails alone"));
}

TEST(Diagnosis, SkippedVariantsSayNothing) {
  const GateReport absent = parity(Verdict::kSkipped);
  EXPECT_TRUE(diagnose({{&kControl, &kGreen}, {&kA, &absent}}).empty());
}

}  // namespace
}  // namespace planegate::gates
