#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"

/// Who may include and link whom.
namespace planegate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::set<std::string>;

/// Beside itself. `oracle` as a target is its top level, `oracle of a format` its folders; `cuda`,
/// `eigen` and `test library` are what lies outside.
const std::map<std::string, Names> kMayUse = {
    {"core", {}},
    {"formats", {"core"}},
    {"gguf", {"core"}},
    {"producers", {"core", "formats"}},
    {"devices", {"core", "cuda"}},
    {"store", {"core", "devices"}},
    {"simt", {"core", "devices", "cuda"}},
    {"kernels", {"core", "formats", "devices", "simt", "cuda"}},
    {"oracle", {"core", "formats", "eigen", "oracle of a format"}},
    {"gates", {"core", "devices", "store", "simt", "oracle"}},
    {"catalog", {"core", "formats", "producers", "kernels", "oracle", "oracle of a format"}},
    {"mutants",
     {"core", "formats", "producers", "devices", "store", "simt", "kernels", "oracle of a format",
      "gates", "catalog"}},
    {"perf", {"core", "devices", "store", "simt", "oracle", "gates"}},
    {"cli", {"core", "gguf", "devices", "gates", "catalog", "fuzz", "mutants", "perf"}},
    {"fuzz",
     {"core", "gguf", "devices", "store", "simt", "oracle", "gates", "catalog", "tests",
      "test library"}},
};

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return text.starts_with(prefix); });
}

/// The component of `planegate/core/shape.h`, `gates/verify.h`; empty for what is no project file.
std::string component(std::string file) {
  if (file.starts_with("src/")) file.erase(0, 4);
  if (file.starts_with("gates/perf/")) return "perf";
  const bool in_library = file.starts_with("planegate/");
  if (in_library) file.erase(0, std::string("planegate/").size());
  const std::string folder = file.substr(0, std::min(file.find('/'), file.size()));
  const Names library = {"core", "formats", "gguf", "producers", "devices", "store", "simt"};
  const Names others = {"kernels", "oracle", "gates", "catalog", "mutants", "cli", "fuzz", "tests"};
  if (in_library) return library.count(folder) != 0 ? folder : "unknown";
  return others.count(folder) != 0 && folder != file ? folder : "";
}

std::string included_component(const std::string& file) {
  const std::string own = component(file);
  if (own == "oracle" && std::count(file.begin(), file.end(), '/') > 1) return "oracle of a format";
  if (!own.empty()) return own;
  if (starts_with_any(file, {"cuda", "cub", "cut", "cupti", "curand", "cusparse", "cute/",
                             "thrust/", "nv", "mma.h", "cooperative_groups", "device_launch"})) {
    return "cuda";
  }
  if (starts_with_any(file, {"Eigen/", "unsupported/Eigen"})) return "eigen";
  if (starts_with_any(file, {"gtest/", "gmock/", "rapidcheck", "benchmark/"})) {
    return "test library";
  }
  return "";
}

/// Why `path` may not hold `#include spelling`; empty if it may.
std::string wrong_arrow(const std::string& path, const std::string& spelling) {
  const std::string from = component(path);
  const auto rule = kMayUse.find(from);
  if (rule == kMayUse.end()) return path + " belongs to no known component";
  const bool quoted = spelling.starts_with('"');
  const size_t end = spelling.find(quoted ? '"' : '>', 1);
  if ((!quoted && !spelling.starts_with('<')) || end == std::string::npos) {
    return spelling + " is no plain file name";
  }
  const std::string file = spelling.substr(1, end - 1);
  if (file.find("..") != std::string::npos) return file + " is not spelt from the top";
  const std::string to = included_component(file);
  if (to.empty() && quoted) return file + " is not spelt from the top";
  if (to.empty() || to == from || rule->second.count(to) != 0) return "";
  return from + " <- " + to + " (" + file + ")";
}

/// `text` with comments blanked, line by line; strings stay.
std::string code_of(const std::string& text) {
  std::string code = text;
  enum { kCode, kLine, kBlock, kString } state = kCode;
  char quote = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (state == kCode && text[i] == '/' && (next == '/' || next == '*')) {
      state = next == '/' ? kLine : kBlock;
      code[i] = code[i + 1] = ' ';
      ++i;
    } else if (state == kCode && (text[i] == '"' || text[i] == '\'')) {
      const bool digit_separator = text[i] == '\'' && i > 0 && std::isxdigit(text[i - 1]);
      if (!digit_separator) state = kString;
      quote = text[i];
    } else if (state == kString) {
      if (text[i] == '\\') ++i;
      if (text[i] == quote || text[i] == '\n') state = kCode;
    } else if (state == kLine || state == kBlock) {
      const bool over = state == kLine ? text[i] == '\n' : text[i] == '*' && next == '/';
      if (text[i] != '\n') code[i] = ' ';
      if (over && state == kBlock) code[++i] = ' ';
      if (over) state = kCode;
    }
  }
  return code;
}

/// Whether `code` names `name`: in any case, with or without underscores, as a word or as a part of
/// a CamelCase word.
bool names(const std::string& code, const std::string& name) {
  std::string pattern;
  for (const char c : name) pattern += c == '_' ? "_?" : fmt::format("[{}]", c);
  const std::regex word(pattern, std::regex::icase);
  for (std::sregex_iterator found(code.begin(), code.end(), word), end; found != end; ++found) {
    const auto at = [&](int64_t i) {
      return i < 0 || i >= static_cast<int64_t>(code.size()) ? ' ' : code[static_cast<size_t>(i)];
    };
    const auto alnum = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
    const char before = at(found->position() - 1), after = at(found->position() + found->length());
    const bool starts = !alnum(before) || (!upper(before) && upper(at(found->position())));
    if (starts && (!alnum(after) || upper(after))) return true;
  }
  return false;
}

struct Line {
  std::string path;
  int number = 0;
  std::string code;
};

std::vector<Line> lines_under(const std::vector<std::string>& folders) {
  std::vector<Line> lines;
  const fs::path root = PLANEGATE_SOURCE_DIR;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || entry.path().filename() == "CMakeLists.txt") continue;
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      std::istringstream code(code_of(text));
      int number = 0;
      for (std::string line; std::getline(code, line);) {
        lines.push_back({fs::relative(entry.path(), root).string(), ++number, line});
      }
    }
  }
  return lines;
}

/// The spelling in an include line; empty for other lines.
std::string included(const std::string& code) {
  static const std::regex directive(R"(^\s*#\s*(?:include|include_next|import)\b\s*(.*?)\s*$)");
  std::smatch match;
  return std::regex_match(code, match, directive) ? match[1].str() : "";
}

Names format_names() {
  Names names;
  for (const auto& entry : fs::directory_iterator(PLANEGATE_SOURCE_DIR "/src/planegate/formats")) {
    names.insert(entry.path().filename().string());
  }
  for (const FormatOracle& format : shipped_catalog().formats()) names.insert(format.format);
  for (const Contract* plane : shipped_catalog().planes()) names.insert(plane->name);
  names.erase("raw");   // an English word as well
  names.erase("q6_K");  // matching is in any case
  return names;
}

TEST(Includes, FollowTheArrows) {
  std::string wrong;
  std::map<std::string, int> seen;
  for (const Line& line : lines_under({"src", "kernels", "oracle", "gates", "fuzz"})) {
    const std::string spelling = included(line.code);
    if (spelling.empty()) continue;
    ++seen[component(line.path)];
    const std::string why = wrong_arrow(line.path, spelling);
    if (!why.empty()) wrong += fmt::format("{}:{}: {}\n", line.path, line.number, why);
  }
  EXPECT_EQ(wrong, "");
  for (const auto& [name, rule] : kMayUse) EXPECT_GT(seen[name], 0) << name << " was not read";
}

TEST(Includes, OfGatesNameNoFormat) {
  std::string wrong;
  const Names forbidden = format_names();
  ASSERT_GE(forbidden.size(), 5u);
  for (const Line& line : lines_under({"gates"})) {
    for (const std::string& name : forbidden) {
      if (names(line.code, name)) {
        wrong += fmt::format("{}:{}: gates know no format, this names {}\n", line.path, line.number,
                             name);
      }
    }
  }
  EXPECT_EQ(wrong, "");
}

struct Planted {
  const char* path;
  const char* spelling;
  const char* why;
};

class WrongArrow : public testing::TestWithParam<Planted> {};

TEST_P(WrongArrow, IsNamed) {
  EXPECT_EQ(wrong_arrow(GetParam().path, GetParam().spelling), GetParam().why);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, WrongArrow,
    testing::Values(
        Planted{"oracle/q6_k/mirror.cpp", "<planegate/producers/q6_k/producers.h>",
                "oracle <- producers (planegate/producers/q6_k/producers.h)"},
        Planted{"oracle/gemm.cpp", "<planegate/simt/words.h>",
                "oracle <- simt (planegate/simt/words.h)"},
        Planted{"oracle/gemm.cpp", "\"kernels/q6_k/codes.h\"",
                "oracle <- kernels (kernels/q6_k/codes.h)"},
        Planted{"oracle/gemm.h", "<cuda_fp16.h>", "oracle <- cuda (cuda_fp16.h)"},
        Planted{"oracle/gemm.h", "\"gates/compare.h\"", "oracle <- gates (gates/compare.h)"},
        Planted{"gates/parity.cpp", "<planegate/formats/q6_k/contracts.h>",
                "gates <- formats (planegate/formats/q6_k/contracts.h)"},
        Planted{"gates/perf/token.cpp", "\"oracle/q6_k/q6_k.h\"",
                "perf <- oracle of a format (oracle/q6_k/q6_k.h)"},
        Planted{"gates/verify.cpp", "\"gates/perf/ledger.h\"",
                "gates <- perf (gates/perf/ledger.h)"},
        Planted{"gates/verify.cpp", "\"catalog/catalog.h\"",
                "gates <- catalog (catalog/catalog.h)"},
        Planted{"gates/verify.cpp", "<gtest/gtest.h>", "gates <- test library (gtest/gtest.h)"},
        Planted{"src/planegate/core/specs.h", "<planegate/devices/device.h>",
                "core <- devices (planegate/devices/device.h)"},
        Planted{"src/planegate/gguf/reader.h", "<planegate/formats/q6_k/contracts.h>",
                "gguf <- formats (planegate/formats/q6_k/contracts.h)"},
        Planted{"src/planegate/producers/q6_k/producers.cpp", "\"oracle/half.h\"",
                "producers <- oracle (oracle/half.h)"},
        Planted{"src/planegate/store/dispatch.h", "<planegate/gguf/reader.h>",
                "store <- gguf (planegate/gguf/reader.h)"},
        Planted{"src/planegate/devices/device.h", "<planegate/simt/abi.h>",
                "devices <- simt (planegate/simt/abi.h)"},
        Planted{"kernels/q6_k/codes.h", "\"oracle/half.h\"", "kernels <- oracle (oracle/half.h)"},
        Planted{"src/cli/list_command.cpp", "<kernels/q6_k/consumers.h>",
                "cli <- kernels (kernels/q6_k/consumers.h)"},
        Planted{"fuzz/shapes.h", "\"src/cli/table.h\"", "fuzz <- cli (src/cli/table.h)"},
        Planted{"gates/parity.cpp", "\"compare.h\"", "compare.h is not spelt from the top"},
        Planted{"gates/parity.cpp", "\"../oracle/q6_k/q6_k.h\"",
                "../oracle/q6_k/q6_k.h is not spelt from the top"},
        Planted{"gates/parity.cpp", "PARITY_HEADER", "PARITY_HEADER is no plain file name"},
        Planted{"src/planegate/perf/clock.h", "<vector>",
                "src/planegate/perf/clock.h belongs to no known component"}),
    [](const auto& instance) { return "N" + std::to_string(instance.index); });

TEST(Arrow, OfTheOracleIsWrongToEveryKindButSizesAndEigen) {
  for (const char* right : {"<planegate/core/a.h>", "<planegate/formats/f/a.h>", "\"oracle/a.h\"",
                            "\"oracle/f/a.h\"", "<Eigen/Core>", "<vector>"}) {
    EXPECT_EQ(wrong_arrow("oracle/f/a.cpp", right), "");
  }
  for (const char* wrong :
       {"<planegate/gguf/a.h>", "<planegate/producers/f/a.h>", "<planegate/devices/a.h>",
        "<planegate/store/a.h>", "<planegate/simt/a.h>", "<planegate/other/a.h>",
        "\"kernels/f/a.h\"", "\"gates/a.h\"", "\"catalog/a.h\"", "\"cli/a.h\"", "\"fuzz/a.h\"",
        "\"tests/a.h\"", "<cuda_runtime.h>", "<gtest/gtest.h>"}) {
    EXPECT_NE(wrong_arrow("oracle/f/a.cpp", wrong), "") << wrong;
  }
}

TEST(Arrow, IsRightInsideAComponentAndAlongTheRules) {
  EXPECT_EQ(wrong_arrow("oracle/q6_k/q6_k.cpp", "\"oracle/q6_k/mirror.h\""), "");
  EXPECT_EQ(wrong_arrow("oracle/gemm.cpp", "<Eigen/Core>"), "");
  EXPECT_EQ(wrong_arrow("gates/dataset.h", "\"oracle/gemm.h\""), "");
  EXPECT_EQ(wrong_arrow("src/catalog/catalog.cpp", "\"oracle/q6_k/q6_k.h\""), "");
  EXPECT_EQ(wrong_arrow("src/planegate/core/shape.h", "<cstdint>"), "");
}

TEST(IncludeLine, IsFoundWhereCommentsAndSpacesSurroundIt) {
  EXPECT_EQ(included(code_of("/* why */ #  include <a/b.h>  // this")), "<a/b.h>");
  EXPECT_EQ(included(code_of("// #include <a/b.h>")), "");
  EXPECT_EQ(included(code_of("const char* url = \"//\"; /*")), "");
  EXPECT_EQ(code_of("1'000 /*\n*/ 'a' \"/*\" // x\ny"), "1'000   \n   'a' \"/*\"     \ny");
}

TEST(FormatName, IsSeenInWordsStringsAndCamelCase) {
  for (const char* code : {"\"q6_K\"", "q6_k::Raw", "Q6KBlock", "kQ6K = 1", "read_q6_k(x)"}) {
    EXPECT_TRUE(names(code, "q6_k")) << code;
  }
  EXPECT_TRUE(names("bind(w_exp)", "w_exp"));
  EXPECT_TRUE(names("kWExp", "w_exp"));
  EXPECT_FALSE(names("bool isData", "sda"));
  EXPECT_FALSE(names("new_exponent", "w_exp"));
  EXPECT_FALSE(names(code_of("/// Such as `q6_k/w_exp`."), "w_exp"));
}

/// Target -> names that its link properties hold, conditional ones included.
using LinkGraph = std::map<std::string, Names>;

LinkGraph parsed_links(std::istream& in) {
  LinkGraph graph;
  for (std::string line; std::getline(in, line);) {
    line = std::regex_replace(line, std::regex("planegate::"), "planegate_");
    const size_t colon = line.find(": ");
    Names& linked = graph[line.substr(0, colon)];
    const std::regex word("[A-Za-z0-9_]+");
    for (std::sregex_iterator w(line.begin() + static_cast<int64_t>(colon), line.end(), word), end;
         w != end; ++w) {
      linked.insert(w->str());
    }
  }
  return graph;
}

void reach(const std::map<std::string, Names>& arrows, const std::string& from, Names& reached) {
  const auto found = arrows.find(from);
  if (found == arrows.end()) return;
  for (const std::string& to : found->second) {
    if (reached.insert(to).second) reach(arrows, to, reached);
  }
}

/// Every library's closure against the closure of what its sources may include.
std::string wrong_links(const LinkGraph& graph) {
  const std::string prefix = "planegate_";
  const Names always = {"planegate_options", "planegate_warnings"};
  std::string wrong;
  for (const auto& [target, direct] : graph) {
    if (!target.starts_with(prefix) || always.count(target) != 0) continue;
    const std::string from = target.substr(prefix.size());
    if (kMayUse.count(from) == 0) wrong += target + " belongs to no known component\n";
    Names allowed, reached;
    reach(kMayUse, from, allowed);
    reach(graph, target, reached);
    for (const std::string& to : reached) {
      const bool ours = to.starts_with(prefix) && always.count(to) == 0;
      if (ours && to != target && allowed.count(to.substr(prefix.size())) == 0) {
        wrong += target + " reaches " + to + "\n";
      }
      if (to == "CUDA" && allowed.count("cuda") == 0) wrong += target + " reaches CUDA\n";
    }
  }
  return wrong;
}

TEST(Links, FollowTheArrows) {
  std::ifstream file(PLANEGATE_LINK_GRAPH);
  const LinkGraph graph = parsed_links(file);
  for (const auto& [name, rule] : kMayUse) {
    if (name == "formats") continue;  // no library
    EXPECT_EQ(graph.count("planegate_" + name), 1u) << name;
  }
  EXPECT_EQ(graph.at("planegate_gates").count("planegate_oracle"), 1u);
  EXPECT_EQ(wrong_links(graph), "");
}

std::string wrong_links_of(const std::string& text) {
  std::istringstream in(text);
  return wrong_links(parsed_links(in));
}

TEST(WrongLink, IsFoundBehindOtherTargets) {
  EXPECT_THAT(wrong_links_of("planegate_oracle: planegate::core;Eigen3::Eigen\n"), IsEmpty());
  EXPECT_THAT(wrong_links_of("planegate_oracle: planegate::gguf\n"
                             "planegate_gguf: $<LINK_ONLY:planegate::producers>\n"
                             "planegate_producers: planegate::core\n"),
              HasSubstr("planegate_oracle reaches planegate_producers\n"));
  EXPECT_THAT(wrong_links_of("planegate_oracle: planegate_devices\n"
                             "planegate_devices: $<$<BOOL:OFF>:CUDA::cudart_static>\n"),
              HasSubstr("planegate_oracle reaches CUDA\n"));
  EXPECT_EQ(wrong_links_of("planegate_core: planegate_options;planegate_gates\n"),
            "planegate_core reaches planegate_gates\n");
  EXPECT_EQ(wrong_links_of("planegate_bench: fmt::fmt\n"),
            "planegate_bench belongs to no known component\n");
  for (const auto& [name, rule] : kMayUse) {
    if (name == "core" || name == "formats" || name == "oracle") continue;
    EXPECT_THAT(wrong_links_of("planegate_oracle: a\na: $<1:planegate::" + name + ">\n"),
                HasSubstr("planegate_oracle reaches planegate_" + name + "\n"));
  }
}

}  // namespace
}  // namespace planegate
