#include <gmock/gmock.h>

#include "tests/command_run.h"

/// `planegate attribute`, run as a user would.
namespace planegate {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page(const std::string& name) {
  return PLANEGATE_TEST_DATA "/attribution/" + name;
}

class AttributeCommand : public test::CommandTest {
 protected:
  test::CommandRun attribute(const std::string& raw, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"attribute", "--from", page("before_source.csv"), "--raw",
                                          page(raw)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  test::CommandRun profile(const std::string& ncu) const {
    return run({"attribute", "--consumer", "w_exp/bytewise", "--od", "64", "--id", "512", "--nt",
                "5", "--ncu", ncu});
  }
  /// A profiler of `body`.
  std::string script(const std::string& body) const {
    test::write_text(path("ncu"), "#!/bin/sh\n" + body);
    std::filesystem::permissions(path("ncu"), std::filesystem::perms::owner_all);
    return path("ncu");
  }
};

TEST_F(AttributeCommand, PrintsClassesAndTheInstructionsThatWait) {
  const auto ran = attribute("before_raw.csv", {"--top", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("4550 samples, none dropped"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("global memory +2290 +2290 +50.3 %"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("1800 +long_sb +global memory +0x7f000000340 STS.128 "
                                              "\\[R24\\], R4 +LDG.E.128"));
  EXPECT_THAT(ran.out, Not(HasSubstr("HMMA"))) << "--top 1";
}

TEST_F(AttributeCommand, PrintsNoShareWhereTheInstrumentsDisagree) {
  const auto ran = attribute("disagreeing_raw.csv");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              testing::ContainsRegex("global memory +2290 +2290 +none: .*long_sb: 48.4 %"));
}

TEST_F(AttributeCommand, ComparesSamplesAndSaysWhatTheShareHides) {
  const auto ran =
      attribute("before_raw.csv", {"--against", page("after_source.csv"), page("after_raw.csv")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("waits less; its share rises from 13.2 % to 16.0 %"));
}

TEST_F(AttributeCommand, NamesThePageThatItCannotRead) {
  const auto refused = [&](const test::CommandRun& ran, const std::string& why) {
    EXPECT_EQ(ran.status, 3);
    EXPECT_EQ(ran.err, "planegate: " + why + "\n");
  };
  refused(attribute("absent.csv"), "--raw " + page("absent.csv") + ": No such file or directory");
  refused(attribute("before_raw.csv", {"--against", path(""), page("after_raw.csv")}),
          "--against " + path("") + ": Is a directory");
}

TEST_F(AttributeCommand, RefusesARunThatDroppedSamples) {
  const auto ran = attribute("dropped_raw.csv");
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("samples were dropped"));
}

TEST_F(AttributeCommand, OfAMissingOrMalformedFileIsBadInput) {
  EXPECT_EQ(attribute("none.csv").status, 3);
  EXPECT_EQ(attribute("").status, 3) << "a folder";
  const auto ran = attribute("before_source.csv");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("before_source.csv:2:56: 42 cells, the header has 3"));
}

TEST_F(AttributeCommand, NeedsPagesOrAConsumerWithItsShape) {
  EXPECT_EQ(run({"attribute"}).status, 2);
  EXPECT_EQ(run({"attribute", "--from", page("before_source.csv")}).status, 2);
  EXPECT_EQ(attribute("before_raw.csv", {"--work", "0"}).status, 2);
  const auto ran = run({"attribute", "--consumer", "w_exp/bytewise", "--od", "64"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--consumer needs --od, --id and --nt"));
  EXPECT_THAT(run({"attribute", "--consumer", "w_exp/bytewize"}).err, HasSubstr("nearest: w_exp/"));
}

TEST_F(AttributeCommand, RefusesWhereTheProfilerOrTheGpuIsMissing) {
  const auto absent = profile(path("none"));
  EXPECT_EQ(absent.status, 4);
  EXPECT_THAT(absent.err, HasSubstr("did not profile (it did not run); give its place with --ncu"));
  const auto failed = profile(script("echo '==ERROR== no counters' >&2; exit 1"));
  EXPECT_EQ(failed.status, 4);
  EXPECT_THAT(failed.err, HasSubstr("==ERROR== no counters"));
}

/// The profiler's place is taken by a script that prints recorded pages.
TEST_F(AttributeCommand, ProfilesOneLaunchOfAKernelAndReadsBothPages) {
  const auto ran =
      profile(script("echo \"$@\" >> " + path("calls") +
                     "\ncase \"$*\" in\n*'--page source'*) cat " + page("before_source.csv") +
                     ";;\n*'--page raw'*) cat " + page("before_raw.csv") + ";;\nesac\n"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("4550 samples"));
  const std::string calls = test::content(path("calls"));
  EXPECT_THAT(calls, HasSubstr("--clock-control none --kernel-name regex:kernel_entry "
                               "--launch-count 1 "));
  EXPECT_THAT(calls, HasSubstr("attribute --one-launch --consumer w_exp/bytewise --od 64 --id 512 "
                               "--nt 5\n"));
  EXPECT_THAT(calls, HasSubstr("--csv --page source --print-source sass\n"));
  EXPECT_THAT(calls, HasSubstr("--csv --page raw\n"));
  EXPECT_THAT(files(), testing::UnorderedElementsAre("calls", "ncu")) << "its report is removed";
}

}  // namespace
}  // namespace planegate
