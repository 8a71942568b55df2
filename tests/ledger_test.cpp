#include "gates/perf/ledger.h"

#include <functional>

#include <gmock/gmock.h>

#include <planegate/core/errors.h>

#include "gates/perf/utc.h"
#include "tests/command_run.h"
#include "tests/json_schema.h"
#include "tests/ledger_samples.h"

/// Entries, their rules and their JSON.
namespace planegate {
namespace {

using perf::LedgerEntry;
using test::sample_entry;
using test::waiting_entry;
using testing::HasSubstr;

std::string refusal(const LedgerEntry& entry) {
  try {
    perf::check(entry);
  } catch (const ContractError& error) {
    return error.what();
  }
  return "";
}

std::string line_error(const std::string& line) {
  try {
    return perf::parsed_ledger_line(line) ? "" : "no JSON";
  } catch (const perf::LedgerError& error) {
    return error.what();
  }
}

std::string changed(const std::string& member, const nlohmann::json& value) {
  auto json = nlohmann::json::parse(perf::ledger_line(sample_entry()));
  json[member] = value;
  return json.dump();
}

TEST(LedgerLine, HoldsEveryMemberThatItsDocumentDescribes) {
  test::Schema schema = test::parsed_schema(test::content(PLANEGATE_LEDGER_SCHEMA));
  for (const LedgerEntry& entry : {sample_entry(), waiting_entry()}) {
    const std::string line = perf::ledger_line(entry);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    EXPECT_EQ(test::errors_of(nlohmann::json::parse(line), "entry", schema), "");
  }
  for (const auto& [name, member] : schema["entry"]) {
    EXPECT_TRUE(member.seen_present) << name << " is documented and never written";
    EXPECT_EQ(member.always, !member.seen_absent) << name;
  }
}

TEST(LedgerLine, ReadsBackAsTheSameEntry) {
  for (const LedgerEntry& entry : {sample_entry("a \"b\" \\ | \n é"), waiting_entry()}) {
    const std::string line = perf::ledger_line(entry);
    const auto read = perf::parsed_ledger_line(line);
    ASSERT_TRUE(read);
    EXPECT_EQ(perf::ledger_line(*read), line);
    EXPECT_EQ(read->mechanism, entry.mechanism);
    EXPECT_EQ(read->gate, entry.gate);
    EXPECT_EQ(read->retry_when, entry.retry_when);
    EXPECT_EQ(read->kernel.has_value(), entry.kernel.has_value());
  }
}

TEST(LedgerLine, ReadsEntriesThatAreOlderThanTheirGate) {
  auto json = nlohmann::json::parse(perf::ledger_line(sample_entry()));
  json.erase("gate");
  const auto read = perf::parsed_ledger_line(json.dump());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->gate, "");
  EXPECT_EQ(read->verdict, perf::LedgerVerdict::kLanded);
}

TEST(LedgerLine, IgnoresMembersThatItDoesNotKnow) {
  EXPECT_EQ(line_error(changed("clock_mhz", 1980)), "");
}

TEST(LedgerLine, OfAnotherSchemaOrTypeSaysWhatIsRequired) {
  EXPECT_EQ(line_error(changed("schema", "planegate.ledger/2")),
            "schema: planegate.ledger/2, must be planegate.ledger/1");
  EXPECT_EQ(line_error("{}"), "schema: is missing");
  EXPECT_EQ(line_error("[]"), "must be an object");
  EXPECT_EQ(line_error("{\"schema\": "), "no JSON");
  EXPECT_EQ(line_error(changed("pairs", 1.5)), "pairs: must be an integer of 64 bits");
  EXPECT_EQ(line_error(changed("pairs", UINT64_MAX)), "pairs: must be an integer of 64 bits");
  EXPECT_EQ(line_error(changed("a", 3)), "a: must be a string");
  EXPECT_EQ(line_error(changed("kernel", 3)), "kernel: must be an object");
  EXPECT_EQ(line_error(changed("wall", {{"percent", 1}, {"low", 0}})), "wall.high: is missing");
  EXPECT_EQ(line_error(changed("comparison", "better")),
            "comparison=better: one of faster, slower, equivalent, undecided");
}

struct Broken {
  const char* claim;
  std::function<void(LedgerEntry&)> change;
  const char* why;
};

class BrokenEntry : public testing::TestWithParam<Broken> {};

TEST_P(BrokenEntry, IsRefusedWithTheMember) {
  LedgerEntry entry = sample_entry();
  ASSERT_EQ(refusal(entry), "");
  GetParam().change(entry);
  EXPECT_THAT(refusal(entry), HasSubstr(GetParam().why));
  EXPECT_THROW(static_cast<void>(perf::ledger_line(entry)), ContractError);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenEntry,
    testing::Values(
        Broken{"UngatedHasNotLanded",
               [](auto& e) {
                 e.token = "UNGATED";
                 e.gate = "";
               },
               "verdict=landed: needs the token of green gates"},
        Broken{"WaitingNeedsACondition", [](auto& e) { e.verdict = perf::LedgerVerdict::kWaiting; },
               "retry_when=: must not be empty"},
        Broken{"LandedHasNoCondition", [](auto& e) { e.retry_when = "later"; },
               "retry_when=later: only what is waiting has a condition, this is landed"},
        Broken{"IntervalHoldsTheEstimate", [](auto& e) { e.kernel->low = -3; }, "kernel=-3.25,-3,"},
        Broken{"DeltaIsFinite", [](auto& e) { e.wall->high = INFINITY; }, "must be finite"},
        Broken{"NoTimeIsNegative", [](auto& e) { e.wall->low = -101; }, "below -100 percent"},
        Broken{"BarIsNotNegative", [](auto& e) { e.bar_percent = -1; }, "bar_percent=-1"},
        Broken{"PairsAreNotNegative", [](auto& e) { e.pairs = -1; }, "pairs=-1"},
        Broken{"MechanismIsSaid", [](auto& e) { e.mechanism = " \n"; }, "mechanism="},
        Broken{"TokenIsOneWord", [](auto& e) { e.token = "a b"; }, "token=a b: must be one word"},
        Broken{"UngatedHasNoGate", [](auto& e) { e.token = "UNGATED"; },
               "gate=planegate: must be absent, this number is UNGATED"},
        Broken{"GateIsOursOrACommand", [](auto& e) { e.gate = "make test"; },
               "gate=make test: must be planegate, or command: CMD"},
        Broken{"GateNamesItsCommand", [](auto& e) { e.gate = "command: "; }, "or command: CMD"},
        Broken{"TimeIsUtc", [](auto& e) { e.time = "2026-01-31T12:00:00+01:00"; }, "time="},
        Broken{"TimeIsADate", [](auto& e) { e.time = "2026-02-30T12:00:00Z"; }, "time="}),
    [](const auto& instance) { return std::string(instance.param.claim); });

TEST(LedgerTime, OfNowIsATime) {
  LedgerEntry entry = sample_entry();
  entry.time = perf::utc_now();
  EXPECT_EQ(refusal(entry), "");
}

}  // namespace
}  // namespace planegate
