#include "gates/perf/profile_csv.h"

#include <gmock/gmock.h>

/// The profiler's pages: what is read, and where a malformed one says it is wrong.
namespace planegate {
namespace {

using perf::csv_rows;
using perf::parsed_raw_page;
using perf::parsed_source_page;

const std::string kHeader =
    "\"Kernel Name\",\"k(int)\"\n"
    "\"Address\",\"Source\",\"Warp Stall Sampling (All Samples)\",\"stall_wait\",\"stall_long_sb\","
    "\"stall_wait (Not Issued)\"\n";

template <class Read>
std::string error_of(Read read, const std::string& text) {
  try {
    static_cast<void>(read("f.csv", text));
  } catch (const perf::ProfileError& error) {
    return error.what();
  }
  return "";
}

std::string source_error(const std::string& text) {
  return error_of(parsed_source_page, text);
}
std::string raw_error(const std::string& text) {
  return error_of(parsed_raw_page, text);
}

TEST(CsvRows, KeepQuotesCommasAndLineBreaksOfCells) {
  const auto rows = csv_rows("f", "==PROF== \"x\n\r\n\"a,\"\"b\"\"\nc\",d\r\n,e");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0][0].text, "a,\"b\"\nc");
  EXPECT_EQ(rows[0][1].text, "d");
  EXPECT_EQ(rows[0][1].line, 4);
  EXPECT_EQ(rows[0][1].column, 4);
  EXPECT_EQ(rows[1][0].text, "");
  EXPECT_EQ(rows[1][1].text, "e");
}

TEST(CsvRows, NameThePlaceOfABrokenQuote) {
  EXPECT_EQ(error_of(csv_rows, "a,b\nc,\"d\n"), "f.csv:2:3: a quote that never closes");
  EXPECT_EQ(error_of(csv_rows, "a,\"b\"c\n"), "f.csv:1:6: text behind a closing quote");
}

TEST(SourcePage, HoldsCountsByReasonOfAllSamples) {
  const auto page = parsed_source_page(
      "f", kHeader + "\"0x10\",\"  IADD3 R0, R1, R2, RZ \",\"1,500\",\"1,024\",\"\",\"7\"\n");
  EXPECT_EQ(page.kernel, "k(int)");
  ASSERT_EQ(page.instructions.size(), 1u);
  EXPECT_EQ(page.instructions[0].sass, "IADD3 R0, R1, R2, RZ");
  EXPECT_EQ(page.samples(), 1500);
  EXPECT_EQ(page.instructions[0].stalls, (std::map<std::string, int64_t>{{"wait", 1024}}));
}

TEST(SourcePage, ThatIsMalformedSaysWhereAndWhatIsRequired) {
  EXPECT_EQ(source_error(""), "f.csv:1:1: no header: must be the source page of one launch");
  EXPECT_EQ(source_error(kHeader), "f.csv:1:1: no instruction");
  EXPECT_EQ(source_error("hello\n"), "f.csv:1:1: no column 'Address'");
  EXPECT_EQ(source_error("Address,Source,Warp Stall Sampling (All Samples)\n"),
            "f.csv:1:1: no column stall_*: profile with --section SourceCounters");
  EXPECT_EQ(source_error("Address,Source,Address\n"), "f.csv:1:16: column 'Address' a second time");
  EXPECT_EQ(source_error(kHeader + "a,b,1,1,0\n"), "f.csv:3:9: 5 cells, the header has 6");
  EXPECT_EQ(source_error(kHeader + "a,b,1,1,0,0,9\n"), "f.csv:3:13: 7 cells, the header has 6");
  EXPECT_EQ(source_error(kHeader + "a,b,1,x,0,0\n"),
            "f.csv:3:7: stall_wait = 'x': must be a count");
  EXPECT_EQ(source_error(kHeader + "a,b,-1,0,0,0\n"),
            "f.csv:3:5: Warp Stall Sampling (All Samples) = '-1': must be a count");
  EXPECT_EQ(source_error(kHeader + "a,b,3,2,2,0\n"),
            "f.csv:3:5: 3 samples, its reasons add up to 4");
  EXPECT_EQ(source_error(kHeader + "a,b,1,1,0,0\n" + kHeader),
            "f.csv:4:1: a second launch: profile one (--launch-count 1)");
}

const std::string kRaw = "\"ID\",\"Kernel Name\",\"m\",\"t\"\n\"\",\"\",\"byte\",\"\"\n";

TEST(RawPage, HoldsNumbersAndLeavesOutWhatIsNone) {
  const auto page =
      parsed_raw_page("f", "==PROF== x\n" + kRaw + "\"0\",\"k\",\"1,024.5\",\"n/a\"\n");
  EXPECT_EQ(page.kernel, "k");
  EXPECT_EQ(page.metric("m"), 1024.5);
  EXPECT_FALSE(page.metric("t"));
}

TEST(RawPage, ThatIsMalformedSaysWhereAndWhatIsRequired) {
  EXPECT_EQ(raw_error(""), "f.csv:1:1: no header: must be the raw page of one launch");
  EXPECT_EQ(raw_error("a,b\n"), "f.csv:1:1: no column 'Kernel Name'");
  EXPECT_EQ(raw_error(kRaw),
            "f.csv:2:1: 2 rows: must be header, units and one launch (--launch-count 1)");
  EXPECT_EQ(raw_error(kRaw + "0,k,1,2\n1,k,1,2\n"),
            "f.csv:4:1: 4 rows: must be header, units and one launch (--launch-count 1)");
  EXPECT_EQ(raw_error(kRaw + "0,k,1\n"), "f.csv:3:5: 3 cells, the header has 4");
  EXPECT_EQ(raw_error("Kernel Name,m\nk,1\nk,1\n"), "f.csv:2:1: must be the row of units");
  EXPECT_EQ(raw_error("Kernel Name,smsp__a,smsp__a\n,,\nk,1,1\n"),
            "f.csv:1:21: column 'smsp__a' a second time");
}

}  // namespace
}  // namespace planegate
