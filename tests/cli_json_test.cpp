#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/json_report.h"
#include "tests/command_run.h"
#include "tests/json_schema.h"

namespace planegate::test {
namespace {

using testing::HasSubstr;

Schema documented() {
  return parsed_schema(content(PLANEGATE_REPORT_SCHEMA));
}

GateReport with_everything() {
  GateReport part;
  part.gate = "lattice";
  part.verdict = Verdict::kSkipped;
  part.reason = "no exact lattice";
  part.shape = Shape(3, 100, 2);
  GateReport report;
  report.gate = "parity";
  report.subject = "w_exp/bytewise";
  report.verdict = Verdict::kFail;
  report.compared = 10;
  report.difference = {3, "element 0 = token 0, row 0", "[1] 2", "[2] 2", 0xABC};
  report.diagnosis = "it reads other bytes";
  report.repeat = "planegate verify";
  report.notes = {"a note"};
  report.parts = {part};
  report.refused = true;
  report.device_lost = true;
  return report;
}

json written_by_hand() {
  return json::parse(cli::json_report({"m.gguf", "host", "2 threads", std::nullopt, 1, 1},
                                      {with_everything(), GateReport{}}));
}

class JsonReport : public CommandTest {
 protected:
  json verified(const std::string& model, int status) const {
    const CommandRun ran =
        run({"verify", model, "--consumer", "raw/expand", "--nt", "2", "--device", "host", "--seed",
             "18446744073709551615", "--json", path("r.json")});
    EXPECT_EQ(ran.status, status) << ran.err;
    return json::parse(content(path("r.json")));
  }
};

TEST_F(JsonReport, HasExactlyTheDocumentedMembers) {
  Schema schema = documented();
  EXPECT_EQ(errors_of(verified(model(), 0), "run", schema), "");
  EXPECT_EQ(errors_of(verified(infinite_model(), 1), "run", schema), "");
  EXPECT_EQ(errors_of(written_by_hand(), "run", schema), "");
  for (const auto& [object, members] : schema) {
    for (const auto& [name, member] : members) {
      EXPECT_TRUE(member.seen_present) << object << "." << name << " was never written";
      EXPECT_EQ(member.seen_absent, !member.always) << object << "." << name;
    }
  }
}

TEST_F(JsonReport, IsLeftAsItWasAndAloneWhereTheCommandFailsEarly) {
  write_text(path("r.json"), "kept");
  write_text(path("bad.gguf"), "no model");
  EXPECT_EQ(run({"verify", path("bad.gguf"), "--json", path("r.json")}).status, 3);
  EXPECT_EQ(run({"verify", path("bad.gguf"), "--plane", "x", "--json", path("r.json")}).status, 2);
  EXPECT_EQ(run({"verify", f32_model(), "--json", path("r.json")}).status, 4);
  EXPECT_EQ(content(path("r.json")), "kept");
  EXPECT_THAT(files(), testing::UnorderedElementsAre("r.json", "bad.gguf", "f32.gguf"));
}

TEST_F(JsonReport, FollowsALinkToItsTarget) {
  write_text(path("r.json"), "old");
  fs::create_symlink(path("r.json"), path("link.json"));
  const CommandRun ran =
      run({"verify", model(), "--plane", "raw", "--nt", "1", "--json", path("link.json")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_THAT(content(path("r.json")), HasSubstr("planegate.report/1"));
}

TEST_F(JsonReport, SaysWhatTheRunWas) {
  const json run = verified(model(), 0);
  EXPECT_EQ(run["schema"], cli::kReportSchema);
  EXPECT_EQ(run["model"], path("model.gguf"));
  EXPECT_EQ(run["device"]["name"], "host");
  EXPECT_EQ(run["nt"], 2);
  EXPECT_EQ(run["seed"], 18446744073709551615u);
  EXPECT_EQ(run["exit_code"], 0);
  const json& first = run["reports"][0];
  EXPECT_EQ(first["gate"], "mirror");
  EXPECT_EQ(first["subject"], "q6_K/raw");
  EXPECT_EQ(first["device"], "host");
  EXPECT_EQ(first["tensor"], "blk.0.a.weight");
  EXPECT_EQ(first["shape"], (json{{"od", 70}, {"id", 512}, {"nt", 2}, {"nsb", 2}}));
  EXPECT_EQ(first["verdict"], "pass");
  EXPECT_EQ(first["compared"], 29400);
  EXPECT_EQ(first["unit"], "bytes");
}

void collect_gates(const json& reports, std::set<std::string>& gates) {
  for (const json& report : reports) {
    gates.insert(report["gate"]);
    if (report.contains("parts")) collect_gates(report["parts"], gates);
  }
}

TEST_F(JsonReport, HoldsOnlyGatesThatAreDocumented) {
  std::set<std::string> gates;
  collect_gates(verified(model(), 0)["reports"], gates);
  collect_gates(verified(infinite_model(), 1)["reports"], gates);
  const std::string meaning = documented()["report"]["gate"].meaning;
  EXPECT_THAT(gates, testing::IsSupersetOf({"scales", "mirror", "readback", "parity", "chain",
                                            "lattice", "bound", "independence"}));
  for (const std::string& gate : gates) EXPECT_THAT(meaning, HasSubstr("`" + gate + "`"));
}

TEST_F(JsonReport, OfAFailureHasItsDiagnosis) {
  const json run = verified(infinite_model(), 1);
  EXPECT_EQ(run["exit_code"], 1);
  ASSERT_EQ(run["reports"].size(), 1u);
  EXPECT_EQ(run["reports"][0]["gate"], "scales");
  EXPECT_EQ(run["reports"][0]["verdict"], "fail");
  EXPECT_THAT(run["reports"][0]["diagnosis"], HasSubstr("row 2, super-block 1"));
}

TEST_F(JsonReport, ReplacesAnOlderFileAndLeavesNoOther) {
  write_text(path("r.json"), "old");
  verified(model(), 0);
  EXPECT_THAT(files(), testing::UnorderedElementsAre("model.gguf", "r.json"));
}

TEST(JsonReportText, HoldsTheDifferenceOfAFailure) {
  const json report = written_by_hand()["reports"][0];
  EXPECT_EQ(report["verdict"], "fail");
  EXPECT_EQ(report["difference"], (json{{"count", 3},
                                        {"first", "element 0 = token 0, row 0"},
                                        {"want", "[1] 2"},
                                        {"have", "[2] 2"},
                                        {"fingerprint", "0000000000000abc"}}));
  EXPECT_EQ(report["parts"][0]["reason"], "no exact lattice");
}

TEST(JsonReportText, IsUtf8WhateverTheNames) {
  GateReport report;
  report.tensor = "a\xFF\"\n";
  const json run = json::parse(cli::json_report({"m\x80.gguf", "host", "", 1, 1, 0}, {report}));
  EXPECT_EQ(run["model"], "m\xEF\xBF\xBD.gguf");
  EXPECT_EQ(run["reports"][0]["tensor"], "a\xEF\xBF\xBD\"\n");
}

TEST(ReportSchema, DocumentsAllObjects) {
  const Schema schema = documented();
  std::string objects;
  for (const auto& [object, members] : schema) objects += object + " ";
  EXPECT_EQ(objects, "device difference report run shape ");
}

TEST(ReportSchema, CheckSeesDrift) {
  Schema schema = documented();
  schema["shape"].erase("od");
  schema["report"]["verdict"].type = "integer";
  schema["report"]["severity"] = {"string", true, ""};
  schema["run"]["seed"].type = "device";
  schema["run"]["reports"].type = "array of report";
  EXPECT_EQ(errors_of(written_by_hand(), "run", schema),
            "run.reports[].parts[].severity is missing\n"
            "run.reports[].parts[].shape.od is not documented\n"
            "run.reports[].parts[].verdict is no integer\n"
            "run.reports[].severity is missing\n"
            "run.reports[].shape.od is not documented\n"
            "run.reports[].verdict is no integer\n"
            "run.seed is no object");
  Schema tables = parsed_schema("## a\n| `b` | string | m | when new | c |\n");
  EXPECT_EQ(tables["a"]["b"].type, "string");
  EXPECT_FALSE(tables["a"]["b"].always);
}

}  // namespace
}  // namespace planegate::test
