#include "fuzz/case_file.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "fuzz/generator.h"

namespace planegate::fuzz {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

CaseFile red_file() {
  return {{"q6_K",
           Shape(257, 18944, 70),
           std::numeric_limits<uint64_t>::max(),
           {"d 0x0001", "code -128", 3, std::byte{0}, std::byte{0xFF}, Schedule::Order::kRandom}},
          "w_exp/cp_async",
          "cuda",
          "parity",
          "bound",
          "further from y* than \"it\" can round"};
}

TEST(CaseFile, ComesBackAsItWasWritten) {
  EXPECT_EQ(from_json(to_json(red_file(), "0.1.0")), red_file());
}

TEST(CaseFile, OfAnyGeneratedCaseComesBack) {
  const Generator generator(shipped_catalog(), "q6_K", {}, {}, 3);
  for (int64_t number = 0; number < 500; ++number) {
    CaseFile file = red_file();
    file.c = generator.at(number);
    EXPECT_EQ(from_json(to_json(file, "0.1.0")), file);
  }
}

TEST(CaseFile, NamesTheFirstRedPart) {
  GateReport report;
  report.gate = "parity";
  report.subject = "raw/expand";
  for (const char* gate : {"lattice", "bound", "independence"}) {
    report.parts.emplace_back();
    report.parts.back().gate = gate;
    report.parts.back().verdict = gate[0] == 'l' ? Verdict::kPass : Verdict::kFail;
  }
  EXPECT_EQ(case_file({}, report).part, "bound");
  EXPECT_EQ(case_file({}, report).consumer, "raw/expand");
}

/// The text of red_file() with one place changed.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_json(red_file(), "0.1.0");
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct Malformed {
  std::string text, why;
};

TEST(CaseFile, IsRefusedWithFieldAndRequirementWhereMalformed) {
  const std::string whole = to_json(red_file(), "0.1.0");
  const std::vector<Malformed> cases = {
      {"", "file: must be JSON; it breaks at byte 1"},
      {whole.substr(0, 40), "file: must be JSON; it breaks at byte"},
      {"[1]", "file: must be an object"},
      {"{}", "schema: is absent"},
      {changed("case/1", "case/2"), "schema: must be \"planegate.case/1\""},
      {changed("\"format\"", "\"fromat\""), "fromat: unknown member; known are schema,"},
      {changed("\"od\": 257", "\"od\": 0"), "shape.od: must be a whole number from 1 to"},
      {changed("\"od\": 257", "\"od\": 1000000"),
       "shape: od*id is 18944000000; must be at most 2^28"},
      {changed("\"nt\": 70", "\"nt\": 1000000"),
       "shape: nt*id is 18944000000; must be at most 2^28"},
      {changed("\"id\": 18944,\n    \"nt\": 70", "\"id\": 1024,\n    \"nt\": 262145"),
       "shape: nt*id is 268436480; must be at most 2^28"},
      {changed("\"od\": 257,\n    \"id\": 18944,\n    \"nt\": 70",
               "\"od\": 8192,\n    \"id\": 8192,\n    \"nt\": 8192"),
       "shape: od*id*nt must be at most 2^36"},
      {changed("\"seed\"", "\"device\": \"host\",\n  \"seed\""), "device: is given twice"},
      {changed("\"device\": \"cuda\"", "\"device\": \"tpu\""),
       "device: \"tpu\" is not host or cuda"},
      {changed("\"gate\": \"parity\"", "\"gate\": \"mirror\""), "gate: \"mirror\" is not parity"},
      {changed("\"part\": \"bound\"", "\"part\": \"chain\""),
       "part: \"chain\" is not lattice or bound or independence"},
      {changed("\"od\": 257", "\"od\": -5"), "shape.od: must be a whole number from 1 to"},
      {changed("\"od\": 257", "\"od\": 2.5"), "shape.od: must be a whole number from 1 to"},
      {changed("\"od\": 257,", ""), "shape.od: is absent"},
      {changed("18944", "18945"), "shape.id: 18945 is not a multiple of 256"},
      {changed("\"nt\": 70", "\"nt\": 99999999999"), "shape.nt: must be a whole number from 1"},
      {changed("18446744073709551615", "-1"), "seed: must be a whole number from 0 to"},
      {changed("18446744073709551615", "\"1\""), "seed: must be a whole number from 0 to"},
      {changed("\"random\"", "\"upwards\""),
       "knobs.order: \"upwards\" is not ascending, descending or random"},
      {changed("\"pad\": 255", "\"pad\": 256"), "knobs.pad: must be a whole number from 0 to 255"},
      {changed("\"d 0x0001\"", "7"), "knobs.weights: must be a string"},
      {changed("\"w_exp/cp_async\"", "null"), "consumer: must be a string"}};
  for (const Malformed& c : cases) {
    EXPECT_THAT([&] { from_json(c.text); }, ThrowsMessage<CaseFileError>(HasSubstr(c.why)));
  }
}

TEST(CaseFile, CutAnywhereIsRefused) {
  const std::string whole = to_json(red_file(), "0.1.0");
  for (size_t size = 0; size + 2 < whole.size(); ++size) {
    EXPECT_THROW(from_json(whole.substr(0, size)), CaseFileError) << size;
  }
}

}  // namespace
}  // namespace planegate::fuzz
