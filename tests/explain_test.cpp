#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "cli/commands.h"
#include "tests/command_run.h"
#include "tests/golden.h"

namespace planegate::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using test::expect_golden;

std::string alone(const std::string& plane, const Shape& shape) {
  return explanation(shipped_catalog(), {plane, shape.od(), shape.id(), shape.nt(), ""});
}

std::string pair(const std::string& plane, const std::string& beside, const Shape& shape) {
  return explanation(shipped_catalog(), {plane, shape.od(), shape.id(), shape.nt(), beside});
}

void expect_wrong_use(const ExplainArguments& arguments, const std::string& words) {
  try {
    explanation(shipped_catalog(), arguments);
    ADD_FAILURE() << "not refused: " << words;
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), kWrongUse);
    EXPECT_EQ(error.what(), words);
  }
}

TEST(Explain, SubByteFieldsWithBasesAndPadding) {
  expect_golden(alone("padded", Shape(70, 512, 1)), "explain_padded.txt");
}

TEST(Explain, SwizzleAndTailTokens) {
  expect_golden(alone("qa8", Shape(1, 512, 70)), "explain_qa8.txt");
}

TEST(Explain, RowThatAnOddOdIsRoundedUpBy) {
  expect_golden(alone("w_dsc", Shape(7, 512, 1)), "explain_w_dsc.txt");
}

TEST(Explain, CountsThePaddingOfEveryPlane) {
  const Shape shape(3, 512, 70);
  const std::vector<std::pair<std::string, std::string>> paddings = {
      {"raw", "none"},
      {"padded", "84 bytes of 0x00"},
      {"w_exp", "none"},
      {"w_dsc", "128 bytes of 0x00"},
      {"pad40", "2240 bytes of 0x00"},
      {"qa8", "29696 bytes of 0x00"},
      {"sda", "3712 bytes of 0x00"}};
  for (const auto& [plane, padding] : paddings) {
    EXPECT_THAT(alone(plane, shape), HasSubstr("\npadding    " + padding + "\n")) << plane;
  }
}

TEST(Explain, TakesPlanesAsTablesShowThem) {
  EXPECT_EQ(alone("q6_K/w_exp", Shape(2, 256)), alone("w_exp", Shape(2, 256)));
}

TEST(ExplainBeside, TheIncident) {
  expect_golden(pair("w_exp", "padded", Shape(70, 512, 1)), "explain_w_exp_beside_padded.txt");
}

TEST(ExplainBeside, SharedFieldsAndAWindowAcrossTwoFields) {
  expect_golden(pair("padded", "raw", Shape(3, 512, 1)), "explain_padded_beside_raw.txt");
}

TEST(ExplainBeside, DriftThatIsNotConstantAndAWindowThatEndsInPadding) {
  expect_golden(pair("pad40", "qa8", Shape(1, 512, 70)), "explain_pad40_beside_qa8.txt");
}

TEST(ExplainBeside, AddressesBeyondThePlane) {
  expect_golden(pair("w_dsc", "w_exp", Shape(7, 512, 1)), "explain_w_dsc_beside_w_exp.txt");
}

TEST(ExplainBeside, AShapeThatHidesTheDifference) {
  expect_golden(pair("w_exp", "padded", Shape(1, 256, 1)), "explain_hidden.txt");
}

TEST(ExplainBeside, DriftsPerRowByNsbTimes32) {
  EXPECT_THAT(pair("w_exp", "padded", Shape(512, 3584)), HasSubstr("nsb*32 = 448 bytes too low\n"));
  EXPECT_THAT(pair("w_exp", "padded", Shape(512, 5120)), HasSubstr("nsb*32 = 640 bytes too low\n"));
  EXPECT_THAT(pair("w_exp", "padded", Shape(3584, 18944)),
              HasSubstr("nsb*32 = 2368 bytes too low\n"));
  EXPECT_THAT(pair("padded", "w_exp", Shape(512, 3584)),
              HasSubstr("nsb*32 = 448 bytes too high\n"));
}

TEST(ExplainBeside, AtNsb1FaultyRow8IsDenseRow7) {
  const std::string text = pair("w_exp", "padded", Shape(16, 256));
  EXPECT_THAT(text, HasSubstr("wrong   byte 1792 = row 7, super-block 0, element 0 (codes)\n"));
  EXPECT_THAT(text, HasSubstr("first difference  row 1, k 0: byte 256 by w_exp, byte 224 by"));
  EXPECT_THAT(text, HasSubstr("32 bytes too low; not here, with one sb\n"));
}

TEST(ExplainBeside, OneRowStillShowsTheSuperBlockStride) {
  const std::string text = pair("w_exp", "padded", Shape(1, 512));
  EXPECT_THAT(text, HasSubstr("first difference  row 0, k 256:"));
  EXPECT_THAT(text, HasSubstr("nsb*32 = 64 bytes too low; not here, with one row\n"));
}

TEST(ExplainBeside, ShowsTheFirstDifferenceWhereTheMiddleAgrees) {
  const std::string text = pair("w_dsc", "w_exp", Shape(1, 256));
  EXPECT_THAT(text, HasSubstr("right   byte 16 = row 0, super-block 0, element 32 (dsc)\n"));
  EXPECT_THAT(text, HasSubstr("wrong   byte 32 = row 0, super-block 0, element 64 (dsc)\n"));
}

TEST(ExplainBeside, APlaneBesideItselfDiffersInNoTerm) {
  for (const Contract* plane : shipped_catalog().planes()) {
    const std::string text = pair(plane->name, plane->name, Shape(5, 512, 70));
    EXPECT_THAT(text, AllOf(HasSubstr("\nNo term differs.\n"),
                            HasSubstr("\nBoth place every value at the same address.\n")));
    EXPECT_THAT(text, AllOf(Not(HasSubstr("too low")), Not(HasSubstr("too high")),
                            Not(HasSubstr("example"))));
  }
}

TEST(ExplainBeside, TakesEveryPairOfOneRoleAndRefusesEveryOther) {
  for (const Contract* plane : shipped_catalog().planes()) {
    for (const Contract* beside : shipped_catalog().planes()) {
      SCOPED_TRACE(plane->name + " beside " + beside->name);
      if (plane->role != beside->role) {
        EXPECT_THROW(pair(plane->name, beside->name, Shape(5, 768, 70)), CommandError);
      } else if (plane != beside) {
        EXPECT_THAT(pair(plane->name, beside->name, Shape(5, 768, 70)),
                    AllOf(HasSubstr("\nfirst difference  "), HasSubstr("\n  wanted  |"),
                          HasSubstr("\n  found   |")));
      }
    }
  }
}

TEST(Explain, RefusesWithTheNearestNames) {
  expect_wrong_use({"w_exq", 1, 256, 1, ""},
                   "PLANE w_exq: no such plane; nearest: w_exp, w_dsc, raw");
  expect_wrong_use({"w_exp", 1, 256, 1, "paded"},
                   "--beside paded: no such plane; nearest: padded, pad40, raw");
}

TEST(Explain, RefusesAShapeInTheContractsWords) {
  expect_wrong_use({"w_exp", 1, 640, 1, ""}, "id=640: not a multiple of 256");
  expect_wrong_use({"w_exp", 1, 640, 1, "padded"}, "id=640: not a multiple of 256");
  expect_wrong_use({"w_exp", 0, 256, 1, ""}, "od=0: at least 1");
  expect_wrong_use({"qa8", 1, 256, -1, ""}, "nt=-1: at least 1");
}

TEST(Explain, RefusesPlanesOfDifferentRoles) {
  expect_wrong_use({"w_exp", 1, 256, 1, "qa8"},
                   "--beside qa8: holds tokens of activations, w_exp holds rows of weights: "
                   "nothing to compare");
}

class ExplainCommand : public test::CommandTest {};

TEST_F(ExplainCommand, PrintsTheExplanation) {
  const test::CommandRun ran =
      run({"explain", "w_exp", "--od", "70", "--id", "512", "--nt", "3", "--beside", "padded"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, pair("w_exp", "padded", Shape(70, 512, 3)));
}

TEST_F(ExplainCommand, ExitsWith2OnWrongUse) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"explain"},
        {"explain", "w_exp", "--od", "1"},
        {"explain", "w_exp", "--id", "256"},
        {"explain", "w_exp", "--od", "x", "--id", "256"},
        {"explain", "w_exp", "--od", "1", "--id", "640"},
        {"explain", "", "--od", "1", "--id", "256"},
        {"explain", "w_exp", "--od", "1", "--id", "256", "--beside", ""},
        {"explain", "w_exp", "--od", "1", "--id", "256", "--beside", "sda"}}) {
    const test::CommandRun ran = run(arguments);
    EXPECT_EQ(ran.status, 2) << ::testing::PrintToString(arguments);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("planegate: "));
  }
}

}  // namespace
}  // namespace planegate::cli
