#include <regex>

#include <gmock/gmock.h>

#include "tests/command_run.h"
#include "tests/golden.h"

/// `planegate fuzz` and `planegate replay`, run as a user would.
namespace planegate {
namespace {

using test::CommandRun;
using test::content;
using test::expect_golden;
using test::write_text;
using testing::HasSubstr;

constexpr const char* kBad = "w_exp/cp_async+padded_address";
constexpr const char* kFile = "planegate-case-s1-w_exp-cp_async+padded_address.json";

/// Sets environment variables for a scope; the commands inherit them.
class Environment {
 public:
  Environment(const char* total, const char* index) {
    setenv("GTEST_TOTAL_SHARDS", total, 1);
    setenv("GTEST_SHARD_INDEX", index, 1);
  }
  ~Environment() {
    unsetenv("GTEST_TOTAL_SHARDS");
    unsetenv("GTEST_SHARD_INDEX");
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

class FuzzCommand : public test::CommandTest {
 protected:
  CommandRun fuzz_bad(const std::string& more = "--known-bad") const {
    return run({"fuzz", more, "--consumer", kBad, "--device", "host", "--out", path(".")});
  }
  CommandRun replay_of(const std::string& file, const std::string& text) const {
    write_text(path(file), text);
    return run({"replay", path(file), "--device", "host"});
  }
};

/// What differs from machine to machine: times, threads.
std::string stable(std::string text) {
  text = std::regex_replace(text, std::regex("[0-9.]+ s, [0-9]+ cases a second on [0-9]+ threads"),
                            "T s, N cases a second on N threads");
  return std::regex_replace(text, std::regex("executor, [0-9]+ threads"), "executor, N threads");
}

TEST_F(FuzzCommand, SumsUpAShortRun) {
  const CommandRun ran = run({"fuzz", "--cases", "60", "--max-od", "9", "--max-nsb", "3",
                              "--max-nt", "9", "--device", "host"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  expect_golden(stable(ran.out), "fuzz_short.txt");
}

TEST_F(FuzzCommand, ShrinksTheStrideBugAndItsFileIsRedInReplay) {
  const CommandRun ran = fuzz_bad();
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_TRUE(ran.out.find("smallest: " + std::string(kBad) + " od=2 id=256 nsb=1 nt=1 seed=1 ") !=
                  std::string::npos ||
              ran.out.find("smallest: " + std::string(kBad) + " od=1 id=512 nsb=2 nt=1 seed=1 ") !=
                  std::string::npos)
      << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("repeat: planegate replay "));
  EXPECT_THAT(ran.out, HasSubstr(std::string(kFile) + " --device host\n"));
  EXPECT_THAT(files(), testing::Contains(kFile));
  const CommandRun again = run({"replay", path(kFile), "--device", "host"});
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_THAT(again.out, HasSubstr("parity FAIL " + std::string(kBad)));
  EXPECT_THAT(again.out, HasSubstr("\nred, as recorded\n"));
  EXPECT_THAT(content(path(kFile)),
              testing::AnyOf(HasSubstr("codes of w_exp: row stride 224, contract 256 (id)"),
                             HasSubstr("codes of w_exp: sb stride 224, contract 256 (256)")));
}

TEST_F(FuzzCommand, ReplayIsGreenWhereTheConsumerIsRight) {
  fuzz_bad();
  std::string text = content(path(kFile));
  text.replace(text.find("+padded_address"), std::string("+padded_address").size(), "");
  const CommandRun ran = replay_of("right.json", text);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("parity pass w_exp/cp_async od="));
  EXPECT_THAT(ran.out, HasSubstr("recorded as red in lattice on host, not red here\n"));
}

TEST_F(FuzzCommand, ReplayRefusesWhatIsNoCaseWithStatus3) {
  fuzz_bad();
  const std::string good = content(path(kFile));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const struct {
    std::string text, why;
  } cases[] = {
      {"{", "bad.json: file: must be JSON"},
      {with("case/1", "case/9"), "bad.json: schema: must be \"planegate.case/1\""},
      {with("cp_async+", "cp_asink+"), "bad.json: consumer: no consumer 'w_exp/cp_asink+padded"},
      {with("\"weights\": \"sample\"", "\"weights\": \"none\""),
       "bad.json: knobs.weights: 'none' is no data of q6_K; nearest: "},
      {with("\"lattice\": 0", "\"lattice\": 9"), "bad.json: knobs.lattice: 9 is not in 0..3"},
      {with("\"format\": \"q6_K\"", "\"format\": \"q9_K\""),
       "bad.json: format: w_exp/cp_async+padded_address reads q6_K, not 'q9_K'"},
      {with("\"format\": \"q6_K\"", "\"format\": \"q8_0\""),
       "bad.json: format: w_exp/cp_async+padded_address reads q6_K, not 'q8_0'"},
      {with("\"lattice\": 0", "\"lattice\": 1e400"),
       "bad.json: file: holds a number that no double"},
      {with("\"lattice\": 0", "\"lattice\": 1e300"),
       "bad.json: knobs.lattice: must be a whole number from 0 to 255"},
      {std::string((1 << 20) + 1, ' '), "bad.json: file: must be at most 1 MiB"},
      {"", "bad.json: is empty"}};
  for (const auto& c : cases) {
    const CommandRun ran = replay_of("bad.json", c.text);
    EXPECT_EQ(ran.status, 3) << c.why;
    EXPECT_THAT(ran.err, HasSubstr(c.why));
  }
  const auto refused = [&](const std::string& file, const std::string& why) {
    const CommandRun ran = run({"replay", file});
    EXPECT_EQ(ran.status, 3);
    EXPECT_EQ(ran.err, "planegate: " + file + ": " + why + "\n");
  };
  refused(path("absent.json"), "No such file or directory");
  refused(path(""), "Is a directory");
}

TEST_F(FuzzCommand, PrintsTheCaseThatItCannotKeepAndIsStillRed) {
  std::string name = kBad;
  std::replace(name.begin(), name.end(), '/', '-');
  std::filesystem::create_directory(path("planegate-case-s1-" + name + ".json"));
  const CommandRun ran = fuzz_bad();
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out, testing::AllOf(HasSubstr("not kept: "), HasSubstr("\"od\": ")));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("repeat: ")));
}

TEST_F(FuzzCommand, RefusesAFolderThatTakesNoFileBeforeItStarts) {
  const CommandRun ran = run({"fuzz", "--out", "/proc", "--device", "host"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("--out /proc"));
}

TEST_F(FuzzCommand, RefusesWrongUseWithStatus2) {
  EXPECT_THAT(run({"fuzz", "--consumer", "w_exp/nope"}).err,
              HasSubstr("no such consumer; nearest"));
  EXPECT_EQ(run({"fuzz", "--consumer", kBad}).status, 2) << "needs --known-bad";
  EXPECT_EQ(run({"fuzz", "--cases", "0"}).status, 2);
  EXPECT_EQ(run({"fuzz", "--cases", "5", "--seconds", "1"}).status, 2);
  EXPECT_EQ(run({"fuzz", "--out", path("absent")}).status, 2);
  for (const char* seed : {"18446744073709551616", "", "-1", "0x10", "1 2"}) {
    const CommandRun ran = run({"fuzz", "--seed", seed});
    EXPECT_EQ(ran.status, 2) << seed;
    EXPECT_THAT(ran.err, HasSubstr("must be a whole number from 0 to 2^64-1"));
  }
}

TEST_F(FuzzCommand, RefusesAMalformedShardAndRunsAGoodOne) {
  const std::vector<std::string> command = {"fuzz", "--cases",   "40",  "--max-od",
                                            "3",    "--max-nsb", "2",   "--max-nt",
                                            "3",    "--device",  "host"};
  {
    const Environment shard("3", "3");
    const CommandRun ran = run(command);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.err, "planegate: GTEST_SHARD_INDEX=3: a whole number from 0 to 2\n");
  }
  const Environment shard("3", "2");
  const CommandRun ran = run(command);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("shard 2 of 3\n"));
  EXPECT_THAT(ran.out, HasSubstr("6 cases ("));
}

}  // namespace
}  // namespace planegate
