#include "gates/perf/attribution.h"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>

#include <planegate/core/errors.h>

#include "gates/perf/sass.h"
#include "tests/command_run.h"

/// Who waits for what, on pages in the profiler's format.
namespace planegate {
namespace {

using perf::Attribution;
using perf::RawProfile;
using perf::SourceProfile;
using perf::WaitClass;
using testing::HasSubstr;

std::string page(const std::string& name) {
  return test::content(PLANEGATE_TEST_DATA "/attribution/" + name);
}

SourceProfile source(const std::string& name) {
  return perf::parsed_source_page(name, page(name + "_source.csv"));
}

RawProfile raw(const std::string& name) {
  return perf::parsed_raw_page(name, page(name + "_raw.csv"));
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const perf::AttributionRefused& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const SourceProfile& one, const RawProfile& other) {
  return refusal([&] { static_cast<void>(attribute(one, other)); });
}

const perf::BookedStall* stall_at(const SourceProfile& profile, const Attribution& found,
                                  const std::string& opcode, const std::string& reason) {
  for (const auto& stall : found.stalls) {
    const bool here = profile.instructions[stall.consumer].sass.starts_with(opcode);
    if (here && stall.reason == reason) return &stall;
  }
  return nullptr;
}

struct Wait {
  const char* consumer;
  const char* reason;
  const char* producer;  ///< empty: none
  WaitClass waits;
};

class Stall : public testing::TestWithParam<Wait> {};

TEST_P(Stall, IsBookedToTheInstructionThatWaitsAndToWhatItWaitsFor) {
  const SourceProfile profile = source("before");
  const Attribution found = attribute(profile, raw("before"));
  const auto* stall = stall_at(profile, found, GetParam().consumer, GetParam().reason);
  ASSERT_NE(stall, nullptr);
  EXPECT_EQ(stall->waits, GetParam().waits);
  ASSERT_EQ(stall->producer < 0, *GetParam().producer == 0);
  if (stall->producer < 0) return;
  EXPECT_THAT(profile.instructions[static_cast<size_t>(stall->producer)].sass,
              testing::StartsWith(GetParam().producer));
}

INSTANTIATE_TEST_SUITE_P(
    Sample, Stall,
    testing::Values(Wait{"STS.128", "long_sb", "LDG.E.128", WaitClass::kGlobalMemory},
                    Wait{"DEPBAR", "long_sb", "LDGSTS", WaitClass::kGlobalMemory},
                    Wait{"HMMA", "short_sb", "LDSM", WaitClass::kSharedMemory},
                    Wait{"HMMA", "math", "", WaitClass::kMath},
                    Wait{"FMUL", "short_sb", "MUFU", WaitClass::kMath},
                    Wait{"BAR", "barrier", "", WaitClass::kBarrier},
                    Wait{"FMUL", "not_selected", "", WaitClass::kIssue},
                    Wait{"EXIT", "drain", "", WaitClass::kGlobalMemory}),
    [](const auto& instance) { return "N" + std::to_string(instance.index); });

TEST(Attribution, BooksEverySampleOnce) {
  const Attribution found = attribute(source("before"), raw("before"));
  EXPECT_EQ(found.samples, 4550);
  EXPECT_EQ(found.total(WaitClass::kGlobalMemory).samples, 60 + 20 + 1800 + 400 + 10);
  EXPECT_EQ(found.total(WaitClass::kSharedMemory).samples, 100 + 500);
  EXPECT_EQ(found.total(WaitClass::kBarrier).samples, 600);
  EXPECT_EQ(found.total(WaitClass::kMath).samples, 300 + 100);
  EXPECT_EQ(found.total(WaitClass::kIssue).samples, 13 * 40 + 60 + 60 + 20);
  EXPECT_EQ(found.total(WaitClass::kOther).samples, 0);
  EXPECT_NEAR(found.total(WaitClass::kBarrier).share.value(), 600.0 / 4550, 1e-12);
}

TEST(Attribution, OfAReasonThatIsNotKnownIsOtherAndHasNoShare) {
  SourceProfile profile = source("before");
  profile.instructions[3].stalls["novel"] = profile.instructions[3].stalls["wait"];
  profile.instructions[3].stalls.erase("wait");
  const Attribution found = attribute(profile, raw("before"));
  EXPECT_EQ(found.total(WaitClass::kOther).samples, 60);
  EXPECT_FALSE(found.total(WaitClass::kOther).share);
  EXPECT_THAT(found.total(WaitClass::kOther).why_no_share,
              HasSubstr("novel: no warp state beside its 60 samples"));
}

TEST(Attribution, KeepsSamplesWithoutAReason) {
  SourceProfile profile = source("before");
  profile.instructions[3].stalls.erase("wait");
  const Attribution found = attribute(profile, raw("before"));
  EXPECT_EQ(found.total(WaitClass::kOther).samples, 60);
  EXPECT_THAT(found.total(WaitClass::kOther).why_no_share, HasSubstr("unnamed"));
}

TEST(AttributionShares, StandOnlyWhereBothInstrumentsAgree) {
  const Attribution found = attribute(source("before"), raw("disagreeing"));
  EXPECT_EQ(found.total(WaitClass::kGlobalMemory).samples, 2290) << "samples stay";
  EXPECT_FALSE(found.total(WaitClass::kGlobalMemory).share);
  EXPECT_THAT(found.total(WaitClass::kGlobalMemory).why_no_share,
              HasSubstr("long_sb: 48.4 % of the samples, 17.5 % of the warp state"));
}

TEST(AttributionShares, DoNotStandWhereOnlyTheWarpStateSeesAReason) {
  RawProfile state = raw("before");
  state.metrics["smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"] = 4;
  const Attribution found = attribute(source("before"), state);
  EXPECT_FALSE(found.total(WaitClass::kBarrier).share);
  EXPECT_THAT(found.total(WaitClass::kBarrier).why_no_share, HasSubstr("membar: 0.0 %"));
}

TEST(AttributionShares, HoldAtTheToleranceAndNotBeyondIt) {
  for (const auto& [percent, stands] : {std::pair{6.5, true}, std::pair{9.0, false}}) {
    SourceProfile profile;
    profile.instructions.push_back({"0", "NOP", 100000, {{"wait", 90000}, {"math", 10000}}});
    RawProfile state;
    const double math = 10 + percent;
    state.metrics = {{"smsp__pcsamp_dropped_bytes", 0},
                     {"smsp__average_warps_issue_stalled_wait_per_issue_active", 100 - math},
                     {"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active",
                      math - (percent == 6.5 ? 1.5 : 0)}};
    EXPECT_EQ(attribute(profile, state).total(WaitClass::kMath).share.has_value(), stands);
  }
}

TEST(AttributionRefusal, OfARunThatProvesNothing) {
  const SourceProfile profile = source("before");
  ASSERT_EQ(refusal(profile, raw("before")), "");
  EXPECT_THAT(refusal(profile, raw("dropped")),
              HasSubstr("samples were dropped (smsp__pcsamp_dropped_bytes = 4096)"));
  EXPECT_THAT(refusal(profile, raw("overflow")), HasSubstr("smsp__pcsamp_buffer_overflow = 1"));
  RawProfile silent = raw("before");
  silent.metrics.erase("smsp__pcsamp_dropped_bytes");
  EXPECT_THAT(refusal(profile, silent), HasSubstr("does not say whether samples were dropped"));
  EXPECT_THAT(refusal(profile, raw("after")), HasSubstr("two runs: the instructions have 4550"));
  RawProfile other = raw("before");
  other.kernel = "void other_kernel(int)";
  EXPECT_THAT(refusal(profile, other),
              HasSubstr("the source page is of kernel_entry, the raw page of other_kernel"));
  SourceProfile none = profile;
  for (auto& one : none.instructions) one.samples = 0, one.stalls.clear();
  EXPECT_THAT(refusal(none, raw("before")), HasSubstr("no sample"));
  EXPECT_THROW(static_cast<void>(attribute(profile, raw("before"), 0)), ContractError);
}

TEST(AttributionComparison, SeesThatAShareRisesWhileItsSamplesFall) {
  const auto changes =
      compare(attribute(source("before"), raw("before")), attribute(source("after"), raw("after")));
  const auto& barrier = changes[static_cast<size_t>(WaitClass::kBarrier)];
  EXPECT_EQ(barrier.a, 600);
  EXPECT_EQ(barrier.b, 450);
  ASSERT_TRUE(barrier.share_a && barrier.share_b);
  EXPECT_LT(*barrier.share_a, *barrier.share_b);
  EXPECT_TRUE(barrier.misleading);
  EXPECT_EQ(
      barrier.text,
      "waits less; its share rises from 13.2 % to 16.0 % only because the total changed more");
  const auto& global = changes[static_cast<size_t>(WaitClass::kGlobalMemory)];
  EXPECT_EQ(global.text, "waits less");
  const auto& math = changes[static_cast<size_t>(WaitClass::kMath)];
  EXPECT_EQ(math.text, "no change beyond the noise of sampling") << "400 and 420";
}

TEST(AttributionComparison, IsPerUnitOfWork) {
  const auto changes = compare(attribute(source("before"), raw("before"), 2),
                               attribute(source("after"), raw("after"), 1));
  const auto& barrier = changes[static_cast<size_t>(WaitClass::kBarrier)];
  EXPECT_EQ(barrier.a, 300);
  EXPECT_EQ(barrier.text, "waits more");
}

TEST(AttributionComparison, NeedsTheSameSampling) {
  const Attribution a = attribute(source("before"), raw("before"));
  for (const char* metric : {"smsp__pcsamp_interval_cycles", "smsp__pcsamp_aggregated_passes"}) {
    RawProfile other = raw("after");
    other.metrics[metric] = 4096;
    const Attribution b = attribute(source("after"), other);
    EXPECT_THAT(refusal([&] { static_cast<void>(compare(a, b)); }), HasSubstr("and 4096"));
    other.metrics.erase(metric);
    const Attribution c = attribute(source("after"), other);
    EXPECT_THAT(refusal([&] { static_cast<void>(compare(a, c)); }), HasSubstr("and unknown"));
  }
}

SourceProfile listing(const std::vector<std::string>& lines) {
  SourceProfile profile;
  for (const std::string& line : lines) profile.instructions.push_back({"", line, 0, {}});
  return profile;
}

TEST(Producer, IsTheOneWhoseResultStillStandsInTheRegister) {
  EXPECT_EQ(producer_of(listing({"LDG.E R4, [R2.64]", "LDG.E R6, [R2.64]", "IADD3 R8, R4, R5, RZ"}),
                        2, "long_sb"),
            0);
  EXPECT_EQ(producer_of(listing({"LDG.E R4, [R2.64]", "MOV R4, R9", "IADD3 R8, R4, R5, RZ"}), 2,
                        "long_sb"),
            -1);
  EXPECT_EQ(producer_of(listing({"LDG.E.128 R4, [R2.64]", "FADD R8, R7, R9"}), 1, "long_sb"), 0)
      << "R4 to R7";
  EXPECT_EQ(producer_of(listing({"LDG.E.64 R4, [R2.64]", "FADD R8, R6, R9"}), 1, "long_sb"), -1);
  EXPECT_EQ(producer_of(listing({"FADD R8, R4, R9", "LDG.E R4, [R2.64]", "BRA 0x0"}), 0, "long_sb"),
            1)
      << "around a loop";
  EXPECT_EQ(producer_of(listing({"LDS R4, [R2]", "FADD R8, R4, R9"}), 1, "long_sb"), -1);
  EXPECT_EQ(
      producer_of(listing({"SHFL.BFLY PT, R4, R5, 0x1, 0x1f", "FADD R8, R4, R9"}), 1, "short_sb"),
      0);
  EXPECT_EQ(producer_of(listing({"LDG.E R3, [R6.64]", "@P0 LDG.E R4, [R2.64]"}), 1, "long_sb"), 0)
      << "the address is a pair";
}

}  // namespace
}  // namespace planegate
