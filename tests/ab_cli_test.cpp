#include <gmock/gmock.h>

#include "gates/perf/ledger_file.h"
#include "tests/command_run.h"
#include "tests/json_schema.h"

/// `planegate token` and `planegate ab`, run as a user would.
namespace planegate {
namespace {

using testing::HasSubstr;
using testing::Not;

using Arguments = std::vector<std::string>;

const Arguments kShape = {"--od", "9", "--id", "512", "--nt", "3", "--device", "host"};

Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class AbCommand : public test::CommandTest {
 protected:
  test::CommandRun mint(const Arguments& more = kShape) const {
    return run(Arguments{"token", path("token.json"), "--consumer", "w_exp/copy16", "--consumer",
                         "w_exp/cp_async", "--cases", "20"} +
               more);
  }
  test::CommandRun ab(const Arguments& more = {}, const Arguments& shape = kShape) const {
    return run(Arguments{"ab", "--a", "w_exp/copy16", "--b", "w_exp/cp_async", "--token",
                         path("token.json")} +
               shape + more);
  }
  /// Of real timings, which a busy machine spreads at will: some verdict, and the status that is
  /// its own.
  void expect_a_verdict(const test::CommandRun& ran) const {
    const std::string& out = ran.out;
    const size_t begin = out.rfind("b is ");
    ASSERT_NE(begin, std::string::npos) << out << ran.err;
    const std::string verdict = out.substr(begin);
    EXPECT_THAT(verdict, HasSubstr("(token "));
    switch (ran.status) {
      case 0:
        EXPECT_THAT(verdict, testing::AnyOf(HasSubstr("b is equivalent within 100 % ("),
                                            HasSubstr("b is faster (")));
        break;
      case 1:
        EXPECT_THAT(verdict, HasSubstr("b is slower ("));
        break;
      default:
        EXPECT_EQ(ran.status, 4) << ran.err;
        EXPECT_THAT(verdict, HasSubstr("b is undecided: "));
    }
  }
  /// No number is printed.
  void expect_refused(const test::CommandRun& ran, const std::string& why) const {
    EXPECT_EQ(ran.status, 4) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_THAT(ran.out, Not(HasSubstr("%")));
  }
  void edit(const std::string& from, const std::string& to) const {
    std::string text = test::content(path("token.json"));
    text.replace(text.find(from), from.size(), to);
    test::write_text(path("token.json"), text);
  }
};

TEST_F(AbCommand, TimesWhatItsTokenWasMintedFor) {
  const auto minted = mint();
  ASSERT_EQ(minted.status, 0) << minted.err;
  EXPECT_THAT(minted.out, HasSubstr("for od=9 id=512 nsb=2 nt=3, good for 24 hours"));
  const auto ran = ab({"--bar", "100"});
  expect_a_verdict(ran);
  EXPECT_THAT(ran.out, HasSubstr("a against itself: false alarms "));
  EXPECT_THAT(ran.out, HasSubstr("device memory of b less that of a: +0 bytes"));
}

TEST_F(AbCommand, FindsAPlantedSlowdown) {
  ASSERT_EQ(mint().status, 0);
  const auto ran = ab({"--b", "w_exp/copy16", "--planted-launches", "300", "--quads", "6"});
  EXPECT_EQ(ran.status, 2) << "--b is there twice";
  const auto planted =
      run(Arguments{"ab", "--a", "w_exp/copy16", "--b", "w_exp/copy16", "--token",
                    path("token.json"), "--planted-launches", "300", "--quads", "6"} +
          kShape);
  EXPECT_EQ(planted.status, 1) << planted.out << planted.err;
  EXPECT_THAT(planted.out, HasSubstr("b is slower (token "));
  EXPECT_THAT(planted.out, HasSubstr("nt=3, b with 300 % more launches PLANTED\n"));
}

TEST_F(AbCommand, PutsNoPlantedSlowdownIntoALedger) {
  for (const Arguments& more : {Arguments{"--ledger", path("ledger"), "--mechanism", "x"},
                                {"--ledger", path("ledger"), "--mechanism", "x", "--landed"},
                                {"--landed"},
                                {"--reverted"},
                                {"--retry-when", "x"}}) {
    const auto ran = ab(Arguments{"--planted-launches", "300"} + more);
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("--planted-launches makes b slower on purpose"));
  }
  EXPECT_THAT(files(), Not(testing::Contains("ledger")));
}

TEST_F(AbCommand, ReplaysAModel) {
  const Arguments replay = {"--replay", model(), "--nt", "3", "--device", "host"};
  const auto minted = mint(replay);
  ASSERT_EQ(minted.status, 0) << minted.err;
  EXPECT_THAT(minted.out, HasSubstr("od=70 id=512 nsb=2 nt=3; od=3 id=256 nsb=1 nt=3"));
  const auto ran = ab({"--bar", "100", "--quads", "20"}, replay);
  expect_a_verdict(ran);
  EXPECT_THAT(ran.out, HasSubstr("2 GEMMs in order, nt=3"));
}

TEST_F(AbCommand, WritesTheJsonThatItsDocumentsDescribe) {
  ASSERT_EQ(mint().status, 0);
  test::Schema of_token = test::parsed_schema(test::content(PLANEGATE_TOKEN_SCHEMA));
  EXPECT_EQ(
      test::errors_of(nlohmann::json::parse(test::content(path("token.json"))), "token", of_token),
      "");
  test::Schema of_ab = test::parsed_schema(test::content(PLANEGATE_AB_SCHEMA));
  const auto check = [&](const test::CommandRun& ran) {
    EXPECT_THAT(ran.status, testing::AnyOf(0, 1, 4)) << ran.err;
    EXPECT_EQ(test::errors_of(nlohmann::json::parse(test::content(path("ab.json"))), "ab", of_ab),
              "");
  };
  check(ab({"--json", path("ab.json"), "--quads", "6"}));
  check(run({"ab", "--cmd-a", "echo $$", "--cmd-b", "echo $$", "--metric", "[0-9]+", "--quads", "6",
             "--bar", "0", "--json", path("ab.json")}));
}

TEST_F(AbCommand, RefusesWithoutAGoodToken) {
  expect_refused(run(Arguments{"ab", "--a", "w_exp/copy16", "--b", "w_exp/cp_async"} + kShape),
                 "no token: --token FILE, as planegate token writes it, is missing");
  expect_refused(ab(), "token.json: No such file or directory");
  ASSERT_EQ(mint().status, 0);
  Arguments other_shape = kShape;
  other_shape[1] = "10";
  expect_refused(ab({}, other_shape), "no token: shape od=10 id=512 nsb=2 nt=3 was not verified");
  expect_refused(run(Arguments{"ab", "--a", "w_exp/copy16", "--b", "raw/expand", "--token",
                               path("token.json")} +
                     kShape),
                 "no token: consumer raw/expand was not verified");
  const std::string good = test::content(path("token.json"));
  edit("\"compared\": ", "\"compared\": 1");
  expect_refused(ab(), "no token: it was edited: its digest does not fit");
  test::write_text(path("token.json"), good.substr(0, 100));
  expect_refused(ab(), "no token: the file is none");
}

TEST_F(AbCommand, MintsNoTokenOfASkippedMember) {
  const auto ran = run({"token", path("token.json"), "--consumer", "padded/decode", "--od", "9",
                        "--id", "512", "--nt", "70", "--cases", "5", "--device", "host"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("no token: parity skipped padded/decode"));
  EXPECT_THAT(files(), Not(testing::Contains("token.json")));
}

TEST_F(AbCommand, ComparesProgramsAndCallsThemUngated) {
  const auto ran = run({"ab", "--cmd-a", "echo took 2.5 ms", "--cmd-b", "echo took 2.0 ms",
                        "--metric", "took ([0-9.]+)", "--quads", "6"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.out, HasSubstr("metric  a          2.5   b            2"));
  EXPECT_THAT(ran.out, HasSubstr("b is faster (UNGATED: no green gates stand behind it)\n"));
}

TEST_F(AbCommand, KnowsMetricsOfWhichMoreIsBetter) {
  const auto ran = run({"ab", "--cmd-a", "echo 100", "--cmd-b", "echo 200", "--metric", "[0-9]+",
                        "--higher-is-better", "--quads", "6"});
  EXPECT_THAT(ran.out, HasSubstr("metric  a          100   b          200"));
  EXPECT_THAT(ran.out, HasSubstr("b is faster"));
}

TEST_F(AbCommand, GatesProgramsByACommandAndTheirBinaries) {
  test::write_text(path("binary"), "one");
  const Arguments programs = {"ab",     "--cmd-a",  "echo 1",       "--cmd-b",
                              "echo 1", "--metric", "[0-9]+",       "--quads",
                              "6",      "--binary", path("binary"), "--gate-cmd"};
  const auto gated = run(programs + Arguments{"true"});
  EXPECT_EQ(gated.status, 0) << gated.err;
  EXPECT_THAT(gated.out, HasSubstr("b is equivalent within 1.5 % (token "));
  EXPECT_THAT(gated.out, HasSubstr(" of --gate-cmd, not of planegate's gates)\n"));
  expect_refused(run(programs + Arguments{"echo red >&2; false"}),
                 "--gate-cmd failed, exit status 1: echo red >&2; false\nred");
  const auto changing =
      run({"ab", "--cmd-a", "echo 1; echo two > " + path("binary"), "--cmd-b", "echo 1", "--metric",
           "[0-9]+", "--quads", "6", "--binary", path("binary"), "--gate-cmd", "true"});
  expect_refused(changing, "no number: a --binary changed while it was timed");
}

TEST_F(AbCommand, SaysWhatIsWrongWithAMetricOrAProgram) {
  const auto refused = [&](const std::string& metric, const std::string& command, int status,
                           const std::string& why) {
    const auto ran = run({"ab", "--cmd-a", command, "--cmd-b", command, "--metric", metric});
    EXPECT_EQ(ran.status, status) << why;
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  refused("time ([0-9]+)", "echo 5", 2, "matches nothing on the standard output of --cmd-a:\n5");
  refused("[a-z]+", "echo fast", 2, "'fast' of --cmd-a is no number above 0");
  refused("-?[0-9]+", "echo -5", 2, "'-5' of --cmd-a is no number above 0");
  refused("[0-9", "echo 5", 2, "is no regular expression");
  refused("[0-9]+", "echo broken >&2; exit 9", 4, "--cmd-a failed, exit status 9: echo broken");
}

TEST_F(AbCommand, IsUndecidedInNoiseAndSaysHowManyPairsItWouldTake) {
  // Noise that is the same in each run of this test.
  const std::string noise =
      "n=$(($(cat n) + 1)); echo $n > n; echo $((n * n * n * 7919 % 997 + 1))";
  test::write_text(path("n"), "0");
  const std::string command = "cd " + path("") + "; " + noise;
  const auto ran =
      run({"ab", "--cmd-a", command, "--cmd-b", command, "--metric", "[0-9]+", "--quads", "8"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.out, HasSubstr("b is undecided: the interval lies on both sides of the bar"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("about [0-9]+ pairs"));
}

TEST_F(AbCommand, AppendsToTheLedgerWhatItMeasured) {
  ASSERT_EQ(mint().status, 0);
  const auto ran = ab({"--bar", "100", "--quads", "20", "--ledger", path("ledger"), "--mechanism",
                       "asynchronous copies"});
  expect_a_verdict(ran);
  const auto entries = perf::read_ledger(path("ledger")).entries;
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].mechanism, "asynchronous copies");
  EXPECT_EQ(entries[0].verdict, perf::LedgerVerdict::kMeasuredOnly);
  EXPECT_THAT(ran.out, HasSubstr("b is " + std::string(perf::text_of(entries[0].comparison))));
  EXPECT_EQ(entries[0].pairs, 40);
  EXPECT_EQ(entries[0].vram_delta_bytes, 0);
  EXPECT_EQ(entries[0].token.size(), 64u);
  EXPECT_EQ(entries[0].gate, "planegate");
  EXPECT_TRUE(entries[0].wall);
}

TEST_F(AbCommand, RefusesWhatItCouldNotWriteBeforeAnythingRuns) {
  test::write_text(path("foreign"), "hello\n");
  const std::string ran_file = path("ran");
  const auto refused = [&](const Arguments& more, int status, const std::string& why) {
    const auto ran = run(Arguments{"ab", "--cmd-a", "echo 1 | tee " + ran_file, "--cmd-b", "echo 1",
                                   "--metric", "[0-9]+", "--quads", "6"} +
                         more);
    EXPECT_EQ(ran.status, status) << why << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_THAT(files(), Not(testing::Contains("ran"))) << why;
  };
  const auto ledger = [](const std::string& file) {
    return Arguments{"--mechanism", "x", "--ledger", file};
  };
  refused(ledger(path("no/x.jsonl")), 2, "--ledger " + path("no/x.jsonl") + ": No such file");
  refused(ledger(path("foreign/x")), 2, "--ledger " + path("foreign/x") + ": Not a directory");
  refused(ledger(path("tmp")), 2, "--ledger " + path("tmp") + ": Is a directory");
  refused(ledger("/proc/x.jsonl"), 2, "--ledger /proc/x.jsonl: ");
  refused(ledger("/dev/full"), 2, "--ledger /dev/full: ");
  refused(ledger(path("foreign")), 3, "foreign:1: is no line of a ledger");
  refused(ledger(path("x")) + Arguments{"--mechanism", " "}, 2, "");
  refused(ledger(path("x")) + Arguments{"--retry-when", " "}, 2, "retry_when");
  refused({"--json", path("no/y")}, 2, "--json " + path("no/y") + ": No such file");
  EXPECT_THAT(files(), testing::UnorderedElementsAre("foreign"));
}

TEST_F(AbCommand, SaysInTheLedgerWhoseGateItWas) {
  test::write_text(path("binary"), "one");
  const auto ran = run({"ab",           "--cmd-a",    "echo 1",      "--cmd-b",  "echo 1",
                        "--metric",     "[0-9]+",     "--quads",     "6",        "--binary",
                        path("binary"), "--gate-cmd", "true # mine", "--ledger", path("ledger"),
                        "--mechanism",  "none",       "--landed",    "--json",   path("ab.json")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(perf::read_ledger(path("ledger")).entries.at(0).gate, "command: true # mine");
  EXPECT_THAT(run({"ledger", path("ledger")}).out, HasSubstr("  command: true # mine  "));
  EXPECT_THAT(test::content(path("ab.json")), HasSubstr("\"gate\": \"command: true # mine\""));
}

TEST_F(AbCommand, NamesTheTokenFileThatItCannotRead) {
  const auto refused = [&](const std::string& token, const std::string& why) {
    expect_refused(run({"ab", "--a", "w_exp/copy16", "--b", "w_exp/copy16", "--od", "70", "--id",
                        "256", "--nt", "3", "--token", token}),
                   "no token: --token " + token + ": " + why);
  };
  refused(path(""), "Is a directory");
  refused(path("absent"), "No such file or directory");
  test::write_text(path("empty"), "");
  refused(path("empty"), "is empty");
}

TEST_F(AbCommand, LandsNothingThatIsUngated) {
  const Arguments programs = {"ab",           "--cmd-a",     "echo 1",  "--cmd-b", "echo 1",
                              "--metric",     "[0-9]+",      "--quads", "6",       "--ledger",
                              path("ledger"), "--mechanism", "none"};
  expect_refused(run(programs + Arguments{"--landed"}), "what is UNGATED cannot have landed");
  EXPECT_THAT(files(), Not(testing::Contains("ledger")));
  EXPECT_EQ(run(programs).status, 4) << "UNGATED";
  EXPECT_EQ(perf::read_ledger(path("ledger")).entries.at(0).token, perf::kUngated);
}

TEST_F(AbCommand, LandsNothingThatTheTimingSpeaksAgainst) {
  test::write_text(path("binary"), "one");
  const auto landing = [&](const std::string& b, const Arguments& more) {
    return run(Arguments{"ab", "--cmd-a", "echo 1", "--cmd-b", b, "--metric", "[0-9]+", "--quads",
                         "6", "--gate-cmd", "true", "--binary", path("binary"), "--ledger",
                         path("ledger"), "--mechanism", "none", "--landed"} +
               more);
  };
  const auto slower = landing("echo 2", {});
  EXPECT_EQ(slower.status, 1) << slower.out << slower.err;
  EXPECT_THAT(slower.out, HasSubstr("added as measured-only, not as landed: b is slower."));
  test::write_text(path("n"), "0");
  const auto undecided =
      landing("cd " + path("") + "; n=$(($(cat n) + 1)); echo $n > n; echo $((n / 6 % 2 + 1))", {});
  EXPECT_EQ(undecided.status, 4) << undecided.out << undecided.err;
  EXPECT_THAT(undecided.out, HasSubstr("not as landed: b is undecided."));
  const auto faster = landing("echo 2", {"--higher-is-better"});
  EXPECT_EQ(faster.status, 0) << faster.out << faster.err;
  EXPECT_THAT(faster.out, HasSubstr("ledger: added\n"));
  const auto entries = perf::read_ledger(path("ledger")).entries;
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].verdict, perf::LedgerVerdict::kMeasuredOnly);
  EXPECT_EQ(entries[1].verdict, perf::LedgerVerdict::kMeasuredOnly);
  EXPECT_EQ(entries[2].verdict, perf::LedgerVerdict::kLanded);
}

TEST_F(AbCommand, RefusesWrongUse) {
  const auto wrong = [&](const Arguments& arguments, const std::string& why) {
    const auto ran = run(Arguments{"ab"} + arguments);
    EXPECT_EQ(ran.status, 2) << why;
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  wrong({}, "either --a and --b, or --cmd-a, --cmd-b and --metric");
  wrong({"--cmd-a", "x"}, "programs need --cmd-a, --cmd-b and --metric");
  wrong({"--a", "w_exp/copy16", "--b", "w_exp/copy16"}, "consumers need");
  wrong(Arguments{"--a", "w_exp/copi16", "--b", "w_exp/copy16"} + kShape,
        "--a or --b w_exp/copi16: no such consumer; nearest: w_exp/copy16");
  wrong({"--cmd-a", "x", "--cmd-b", "x", "--metric", "x", "--binary", "x"},
        "--gate-cmd and --binary go together");
  wrong({"--cmd-a", "x", "--cmd-b", "x", "--metric", "x", "--mechanism", "x"},
        "are for --ledger FILE");
  wrong({"--cmd-a", "x", "--cmd-b", "x", "--metric", "x", "--ledger", "x"},
        "--ledger needs --mechanism TEXT");
}

}  // namespace
}  // namespace planegate
