#include <gmock/gmock.h>

#include "catalog/catalog.h"
#include "cli/mutants_text.h"
#include "tests/command_run.h"
#include "tests/json_schema.h"

/// `planegate mutants`, run as a user would, and what it prints of a miss.
namespace planegate {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kOne = "w_exp.codes: row stride of padded (3584 bits)";

class MutantsCommand : public test::CommandTest {};

TEST_F(MutantsCommand, PrintsVerdictsAndTheTermThatIsWrong) {
  const auto ran = run({"mutants", "--device", "host", "--only", "w_exp.codes: row stride"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("killed      pass pass FAIL skipped"));
  EXPECT_THAT(ran.out, HasSubstr("codes of w_exp: row stride "));
  EXPECT_THAT(ran.out, HasSubstr(" 0 survived, 0 by the wrong gate, 0 misnamed\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("judge")));
}

TEST_F(MutantsCommand, WritesTheJsonThatItsDocumentDescribes) {
  test::Schema schema = test::parsed_schema(test::content(PLANEGATE_MUTANTS_SCHEMA));
  for (const char* judges : {"", "--judges"}) {
    std::vector<std::string> arguments = {"mutants", "--device", "host",      "--json",
                                          path("m"), "--only",   "dispatch: "};
    if (*judges != 0) arguments.emplace_back(judges);
    const auto ran = run(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(test::errors_of(nlohmann::json::parse(test::content(path("m"))), "matrix", schema),
              "");
  }
}

TEST_F(MutantsCommand, JudgesHaveTheirColumnsAndShares) {
  const auto ran = run(
      {"mutants", "--device", "host", "--judges", "--only", "producer: padded pad left unwritten"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("..-... ......  producer: padded pad left unwritten"))
      << "pad bytes reach no output: no judge of outputs can see them";
  EXPECT_THAT(ran.out, HasSubstr("0 of 1 (0.0 %)"));
}

TEST_F(MutantsCommand, RefusesANameThatNoArmHas) {
  const auto ran = run({"mutants", "--device", "host", "--only", "w_exp.codez"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--only w_exp.codez: no arm's name holds it; nearest: "));
}

TEST_F(MutantsCommand, RefusesAFileThatCannotBeWrittenBeforeItStarts) {
  const auto ran = run({"mutants", "--device", "host", "--json", path("no/m.json")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
}

TEST(MutantsText, MissesSayWhatWasExpected) {
  gates::Arm arm;
  arm.name = kOne;
  arm.expected = gates::kParityRed;
  arm.must_name = {"row stride "};
  cli::MutantRow row;
  row.result.arm = &arm;
  row.result.must_name = arm.words_on(DeviceKind::kHost);
  row.result.outcome = gates::Outcome::kSurvived;
  EXPECT_EQ(cli::mutants_misses({row}),
            std::string("SURVIVED  ") + kOne +
                "\n  verdicts pass pass pass pass, expected pass pass FAIL skipped\n  told: \n"
                "  must name: row stride \n");
  row.result.outcome = gates::Outcome::kKilled;
  EXPECT_EQ(cli::mutants_misses({row}), "no misses\n");
}

TEST(MutantsText, SharesLeaveOutWhatIsNoFaultOrDidNotRun) {
  using gates::Judged;
  const size_t judges = gates::incumbents().size();
  const gates::IncumbentBench bench(shipped_catalog(), DeviceKind::kHost, 1);
  gates::Arm fault, none;
  none.equivalent = true;
  const auto row = [&](const gates::Arm& arm, Judged judged) {
    cli::MutantRow made;
    made.result.arm = &arm;
    made.result.outcome = gates::Outcome::kKilled;
    made.judged = {std::vector<Judged>(judges, judged), std::vector<Judged>(judges, judged)};
    return made;
  };
  const std::vector<cli::MutantRow> rows = {
      row(fault, Judged::kRejects), row(fault, Judged::kAccepts), row(fault, Judged::kStopped),
      row(fault, Judged::kNotRun), row(none, Judged::kAccepts)};
  EXPECT_THAT(cli::judges_table(rows, bench), HasSubstr("1 of 3 (33.3 %), 1 stopped"));
}

}  // namespace
}  // namespace planegate
