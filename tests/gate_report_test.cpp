#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/gate_report.h>

#include "tests/golden.h"

namespace planegate {
namespace {

using test::expect_golden;

GateReport mirror_report() {
  GateReport report;
  report.gate = "mirror";
  report.subject = "q6_K/w_exp";
  report.tensor = "blk.0.attn_v.weight";
  report.shape = Shape(70, 512, 1);
  report.device = "host";
  report.compared = 35840;
  report.unit = "bytes";
  report.data = "file";
  return report;
}

GateReport failing_mirror_report() {
  GateReport report = mirror_report();
  report.difference.count = 3;
  report.difference.first = "byte 17923 = row 35, super-block 0, element 3 (codes)";
  report.difference.want = "17916: 01 02 03 04 05 06 07 [e8] 09 0a";
  report.difference.have = "17916: 01 02 03 04 05 06 07 [e7] 09 0a";
  report.diagnosis = "The codes of 3 weights are off by one.";
  report.repeat = "planegate verify --plane w_exp --tensor blk.0.attn_v.weight";
  report.notes = {"the next gates take the mirror's bytes"};
  return judged(report);
}

GateReport part(const std::string& gate, int64_t compared, int64_t differing) {
  GateReport report;
  report.gate = gate;
  report.subject = "w_exp/cp_async";
  report.shape = Shape(70, 512, 3);
  report.data = "lattice seed=1";
  report.compared = compared;
  report.unit = "elements";
  report.difference.count = differing;
  if (differing != 0) {
    report.difference.first = "element (token 0, row 1)";
    report.difference.want = "row 0: 4 [7] 1";
    report.difference.have = "row 0: 4 [6] 1";
    report.diagnosis = gate + " went red.";
    report.repeat = "planegate verify --consumer w_exp/cp_async";
  }
  return judged(report);
}

GateReport parity_of(std::vector<GateReport> parts) {
  GateReport report;
  report.gate = "parity";
  report.subject = "w_exp/cp_async";
  report.tensor = "blk.0.attn_v.weight";
  report.device = "host";
  report.shape = Shape(70, 512, 3);
  report.parts = std::move(parts);
  return folded(report);
}

TEST(GateReport, PassSaysWhatWasCompared) {
  expect_golden(text(judged(mirror_report())), "report_pass.txt");
}

TEST(GateReport, FailShowsTheFirstDifferenceAndHowToRepeatIt) {
  expect_golden(text(failing_mirror_report()), "report_fail.txt");
}

TEST(GateReport, SkippedSaysWhy) {
  expect_golden(text(skipped(mirror_report(), "no CUDA device")), "report_skipped.txt");
}

TEST(GateReport, PartsStandIndentedBelowTheirParent) {
  const GateReport report =
      parity_of({part("lattice", 210, 0), part("bound", 210, 2), part("independence", 210, 0)});
  expect_golden(text(report), "report_parts.txt");
}

TEST(GateReport, LinesOfALongDiagnosisStayIndented) {
  GateReport report = failing_mirror_report();
  report.diagnosis = "The read has other strides:\n  row: contract id, read nsb*224";
  expect_golden(text(report), "report_long_diagnosis.txt");
}

TEST(GateReport, HeadlineStandsInTheFirstLine) {
  const GateReport report = failing_mirror_report();
  EXPECT_EQ(report.headline(), "mirror FAIL q6_K/w_exp od=70 id=512 nsb=2 nt=1");
  EXPECT_EQ(text(report).substr(0, report.headline().size() + 1), report.headline() + "\n");
}

TEST(GateReport, VerdictWords) {
  EXPECT_STREQ(text(Verdict::kPass), "pass");
  EXPECT_STREQ(text(Verdict::kFail), "FAIL");
  EXPECT_STREQ(text(Verdict::kSkipped), "skipped");
}

TEST(Judged, PassesWhereAllIsEqualAndFailsWhereOneDiffers) {
  EXPECT_EQ(part("lattice", 210, 0).verdict, Verdict::kPass);
  EXPECT_EQ(part("lattice", 210, 1).verdict, Verdict::kFail);
}

TEST(Judged, SkipsWhereNothingWasCompared) {
  const GateReport report = part("lattice", 0, 0);
  EXPECT_EQ(report.verdict, Verdict::kSkipped);
  EXPECT_EQ(report.reason, "nothing was compared");
}

TEST(Judged, ForgetsTheReasonOfAnEarlierSkip) {
  EXPECT_EQ(judged(skipped(mirror_report(), "no CUDA device")).reason, "");
}

TEST(Folded, PassesWhenEveryPartPassedAndAddsUpWhatTheyCompared) {
  const GateReport report = parity_of({part("lattice", 210, 0), part("bound", 190, 0)});
  EXPECT_EQ(report.verdict, Verdict::kPass);
  EXPECT_EQ(report.compared, 400);
  EXPECT_EQ(report.unit, "elements");
}

TEST(Folded, CountsPartsOfDifferentUnitsAsValues) {
  GateReport addresses = part("addresses", 35840, 0);
  addresses.unit = "addresses";
  EXPECT_EQ(parity_of({part("lattice", 210, 0), addresses}).unit, "values");
}

TEST(Folded, FailsWithTheFirstFailingPart) {
  const GateReport report =
      parity_of({part("lattice", 210, 0), part("bound", 190, 2), part("independence", 170, 5)});
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_EQ(report.compared, 190);
  EXPECT_EQ(report.difference.count, 2);
  EXPECT_EQ(report.diagnosis, "bound went red.");
}

TEST(Folded, FailsThoughAnotherPartWasSkipped) {
  EXPECT_EQ(parity_of({part("lattice", 0, 0), part("bound", 210, 1)}).verdict, Verdict::kFail);
}

TEST(Folded, SkipsWhereOnePartWasSkippedAndNamesIt) {
  const GateReport report = parity_of({part("lattice", 210, 0), part("bound", 0, 0)});
  EXPECT_EQ(report.verdict, Verdict::kSkipped);
  EXPECT_EQ(report.reason, "bound: nothing was compared");
}

TEST(Folded, SkipsWithoutParts) {
  EXPECT_EQ(parity_of({}).verdict, Verdict::kSkipped);
  EXPECT_EQ(parity_of({}).reason, "nothing was compared");
}

TEST(Overall, FailsWhereAnyFailed) {
  EXPECT_EQ(overall({part("a", 1, 0), part("b", 0, 0), part("c", 1, 1)}), Verdict::kFail);
}

TEST(Overall, IsSkippedWhereAnyWasSkippedAndNoneFailed) {
  EXPECT_EQ(overall({part("a", 1, 0), part("b", 1, 0)}), Verdict::kPass);
  EXPECT_EQ(overall({part("a", 1, 0), part("b", 0, 0)}), Verdict::kSkipped);
  EXPECT_EQ(overall({part("a", 0, 0), part("b", 0, 0)}), Verdict::kSkipped);
  EXPECT_EQ(overall({}), Verdict::kSkipped);
}

}  // namespace
}  // namespace planegate
