#include <regex>

#include <gmock/gmock.h>

#include "cli/ledger_svg.h"
#include "cli/ledger_text.h"
#include "gates/perf/ledger_file.h"
#include "tests/command_run.h"
#include "tests/ledger_samples.h"

/// `planegate ledger`, run as a user would, and what it draws.
namespace planegate {
namespace {

using test::content;
using test::sample_entry;
using test::waiting_entry;
using testing::HasSubstr;
using testing::Not;

class LedgerCommand : public test::CommandTest {
 protected:
  std::string file() const { return path("ledger.jsonl"); }
  test::CommandRun add(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {
        "ledger", file(), "--add",      "--mechanism",      "wgmma", "--a", "old", "--b", "new",
        "--on",   "H200", "--workload", "od=64 id=256 nt=8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  void fill() const {
    perf::append_to_ledger(file(), sample_entry());
    perf::append_to_ledger(file(), waiting_entry());
  }
};

TEST_F(LedgerCommand, PrintsATableNewestLast) {
  fill();
  const auto ran = run({"ledger", file()});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("-3.25 [-4.50, -2.00]"));
  EXPECT_THAT(ran.out, HasSubstr("UNGATED"));
  EXPECT_LT(ran.out.find("staging by 16 bytes"), ran.out.find("bulk copies"));
}

TEST_F(LedgerCommand, ListsWhatWaitsAndForWhat) {
  fill();
  const auto ran = run({"ledger", file(), "--waiting"});
  EXPECT_THAT(ran.out, HasSubstr("tiles are 256 wide"));
  EXPECT_THAT(ran.out, Not(HasSubstr("staging")));
  EXPECT_EQ(cli::waiting_table({sample_entry()}, false), "nothing waits\n");
}

TEST_F(LedgerCommand, AddsWhatWasMeasuredElsewhereAsUngated) {
  const auto ran = add({"--kernel", "-3.5,-4,-3", "--wall=+1,-1,2", "--vram-delta-bytes", "-16",
                        "--pairs", "9", "--comparison", "faster", "--verdict", "waiting",
                        "--retry-when", "nvcc 14", "--bar", "2"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto entry = perf::read_ledger(file()).entries.at(0);
  EXPECT_EQ(entry.token, "UNGATED");
  EXPECT_EQ(entry.kernel->percent, -3.5);
  EXPECT_EQ(entry.kernel->high, -3);
  EXPECT_EQ(entry.wall->percent, 1);
  EXPECT_EQ(entry.vram_delta_bytes, -16);
  EXPECT_EQ(entry.pairs, 9);
  EXPECT_EQ(entry.bar_percent, 2);
  EXPECT_EQ(entry.comparison, perf::Comparison::kFaster);
  EXPECT_EQ(entry.retry_when, "nvcc 14");
}

TEST_F(LedgerCommand, RefusesWhatBreaksTheRulesAndAddsNothing) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& why) {
    const auto ran = add(more);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  refused({"--verdict", "landed"}, "--verdict=landed: needs the token of green gates");
  refused({"--verdict", "waiting"}, "--retry-when=: must not be empty");
  refused({"--retry-when", "x"}, "--retry-when=x: only what is waiting");
  refused({"--verdict", "kept"}, "--verdict=kept: one of landed, reverted");
  refused({"--kernel", "-3"}, "--kernel -3: must be PERCENT,LOW,HIGH");
  refused({"--kernel", "1,2,3,4"}, "--kernel 1,2,3,4: must be PERCENT,LOW,HIGH");
  refused({"--kernel", "1,x,3"}, "--kernel 1,x,3: must be PERCENT,LOW,HIGH");
  refused({"--kernel", "1,2,3"}, "--kernel=1,2,3: percent, low, high: low <= percent <= high");
  refused({"--pairs", "-1"}, "must not be negative");
  EXPECT_EQ(run({"ledger", file(), "--add"}).status, 2);
  EXPECT_EQ(run({"ledger", file(), "--mechanism", "x"}).status, 2) << "without --add";
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(LedgerCommand, SaysWhereADamagedLineWent) {
  fill();
  test::write_text(file(), content(file()) + "{\"sch");
  const auto ran = run({"ledger", file()});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr(file() + ":3: a line that was not finished, moved to " + file() +
                                 ".damaged-1"));
  EXPECT_THAT(ran.out, HasSubstr("bulk copies"));
}

TEST_F(LedgerCommand, OfAMissingOrForeignFileIsBadInput) {
  EXPECT_EQ(run({"ledger", path("none")}).status, 3);
  test::write_text(file(), "hello\n");
  EXPECT_EQ(run({"ledger", file()}).status, 3);
  EXPECT_EQ(add({}).status, 3);
  EXPECT_EQ(content(file()), "hello\n");
  test::write_text(file(), "{\n  \"weights\": 1\n}\n");
  EXPECT_EQ(run({"ledger", file()}).status, 3);
  EXPECT_EQ(content(file()), "{\n  \"weights\": 1\n}\n");
}

TEST_F(LedgerCommand, WritesAPlotAndNeverOverTheLedger) {
  fill();
  const std::string before = content(file());
  EXPECT_EQ(run({"ledger", file(), "--svg", path("p.svg")}).status, 0);
  EXPECT_THAT(content(path("p.svg")), HasSubstr("<svg xmlns="));
  EXPECT_EQ(run({"ledger", file(), "--svg", file()}).status, 2);
  EXPECT_EQ(run({"ledger", file(), "--svg", path("no/p.svg")}).status, 2);
  EXPECT_EQ(content(file()), before);
}

TEST(LedgerMarkdown, EscapesWhatWouldBreakATable) {
  const std::string text = cli::ledger_markdown({sample_entry("a|b\nc\r\nd \\ <i>")});
  EXPECT_THAT(text, HasSubstr("| a\\|b<br>c<br>d \\\\ &lt;i> |"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(LedgerTable, KeepsAnEntryOnOneLineWhateverItsTextsHold) {
  const std::string text = cli::ledger_table({sample_entry("a\nb\x1b[2J")});
  EXPECT_THAT(text, HasSubstr("a b [2J"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

/// What keeps `xml` from being well-formed; the subset that a plot needs.
std::string xml_error(const std::string& xml) {
  static const std::regex tag(R"(<(/?)([a-z]+)((?: [a-zA-Z0-9-]+="[^"<&]*")*)(/?)>)");
  static const std::regex text(R"((?:[^<>&]|&(?:amp|lt|gt|quot);)*)");
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
  if (!xml.starts_with(head)) return "no declaration";
  std::vector<std::string> open;
  auto at = xml.begin() + static_cast<int64_t>(head.size());
  for (std::smatch m; std::regex_search(at, xml.end(), m, tag); at = m.suffix().first) {
    if (!std::regex_match(m.prefix().str(), text)) return "markup in " + m.prefix().str();
    if (m[1].length() == 0 && m[4].length() == 0) open.push_back(m[2]);
    if (m[1].length() == 0) continue;
    if (open.empty() || open.back() != m[2]) return "wrong end of " + m[2].str();
    open.pop_back();
  }
  if (std::string(at, xml.end()) != "\n") return "text behind the end";
  for (const char c : xml) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control character";
  }
  return open.empty() ? "" : open.back() + " stays open";
}

TEST(XmlError, IsSeenByThisTest) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
  EXPECT_EQ(xml_error(head + "<a x=\"1\">b<c/></a>\n"), "");
  for (const char* wrong :
       {"<a>\n", "<a></b>\n", "<a>&</a>\n", "<a><</a>\n", "<a x=1></a>\n", "<a>\x01</a>\n"}) {
    EXPECT_NE(xml_error(head + wrong), "") << wrong;
  }
}

TEST(LedgerSvg, IsValidXmlWhateverTheTextsHold) {
  EXPECT_EQ(xml_error(cli::ledger_svg({})), "");
  auto entry = sample_entry("</text><script>&\"'\x01\n" + std::string(300, 'w'));
  entry.a = "<a>";
  EXPECT_EQ(xml_error(cli::ledger_svg({entry, waiting_entry()})), "");
  EXPECT_EQ(cli::xml_text("<&>\"\x02"), "&lt;&amp;&gt;&quot; ");
}

/// The number of attribute `name` in the first tag that matches `tag`.
double attribute(const std::string& svg, const std::string& tag, const std::string& name) {
  const size_t at = svg.find(tag);
  if (at == std::string::npos) return NAN;
  const std::string key = " " + name + "=\"";
  return std::stod(svg.substr(svg.find(key, at) + key.size()));
}

TEST(LedgerSvg, PutsDotZeroAndBarOnOneAxis) {
  auto entry = sample_entry();
  entry.kernel = perf::Delta{-2, -4, -1};
  entry.wall.reset();
  entry.bar_percent = 2;
  const std::string svg = cli::ledger_svg({entry});
  const std::string rows = svg.substr(svg.find("<g>"));
  const double zero = attribute(rows, "<line class=\"zero\"", "x1");
  const double bar = attribute(rows, "<rect class=\"bar\"", "x");
  EXPECT_NEAR(attribute(rows, "<circle", "cx"), bar, 0.02) << "-2 percent is the bar's end";
  EXPECT_NEAR(attribute(rows, "<rect class=\"bar\"", "width"), 2 * (zero - bar), 0.02);
  EXPECT_NEAR(attribute(rows, "<line", "x1"), zero - 2 * (zero - bar), 0.02) << "low";
  EXPECT_NEAR(attribute(rows, "<line", "x2"), zero - (zero - bar) / 2, 0.02) << "high";
}

TEST(LedgerSvg, SaysWhatIsUngatedAndWhatHasNoDelta) {
  EXPECT_THAT(cli::ledger_svg({waiting_entry()}), HasSubstr("waiting, UNGATED"));
  EXPECT_THAT(cli::ledger_svg({waiting_entry()}), HasSubstr("no delta"));
  EXPECT_THAT(cli::ledger_svg({sample_entry()}), Not(HasSubstr("UNGATED")));
  auto own = sample_entry();
  own.gate = "command: make test";
  EXPECT_THAT(cli::ledger_svg({own}), HasSubstr("landed, gated by a command"));
}

}  // namespace
}  // namespace planegate
