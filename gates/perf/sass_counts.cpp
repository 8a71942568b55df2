#include <regex>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "gates/perf/kernel_report.h"
#include "gates/perf/sass.h"

namespace planegate::perf {
namespace {

struct Line {
  SassInstruction instruction;
  std::string target;  ///< label of a branch
  int64_t number = 0;  ///< of the file
};

/// The code of one kernel: instructions, and labels by the index of the instruction behind them.
struct Section {
  std::vector<Line> lines;
  std::map<std::string, size_t> labels;
};

bool is_async_copy(const SassInstruction& instruction) {
  return instruction.mnemonic() == "LDGSTS" && instruction.opcode.ends_with(".128");
}

bool is_mma(const SassInstruction& instruction) {
  return instruction.mnemonic().ends_with("MMA");  // IMMA, HMMA, IGMMA, HGMMA
}

bool is_local(const SassInstruction& instruction) {
  return instruction.mnemonic() == "LDL" || instruction.mnemonic() == "STL";
}

/// Marks what lies between each backward branch and its target.
std::vector<bool> in_loops(const std::string& file, const Section& section) {
  std::vector<bool> inside(section.lines.size(), false);
  for (size_t i = 0; i < section.lines.size(); ++i) {
    const Line& line = section.lines[i];
    if (line.target.empty()) continue;
    const auto label = section.labels.find(line.target);
    if (label == section.labels.end()) {
      throw ReportError(
          fmt::format("{}:{}: branch to {}, no such label", file, line.number, line.target));
    }
    // The branch to itself behind EXIT is no loop.
    for (size_t at = label->second; at <= i && label->second < i; ++at) inside[at] = true;
  }
  return inside;
}

InstructionCounts counts_of(const std::string& file, const Section& section) {
  const std::vector<bool> inside = in_loops(file, section);
  InstructionCounts counts;
  for (size_t i = 0; i < section.lines.size(); ++i) {
    const SassInstruction& instruction = section.lines[i].instruction;
    counts.async_copies += is_async_copy(instruction) ? 1 : 0;
    counts.mma += is_mma(instruction) ? 1 : 0;
    counts.local_in_loop += is_local(instruction) && inside[i] ? 1 : 0;
  }
  return counts;
}

std::map<std::string, Section> sections_of(const std::string& file, std::string_view text) {
  static const std::regex head(R"(\s*\.section\s+\.text\.([^,\s]+),.*)");
  static const std::regex label(R"((\.L_x_\d+):\s*)");
  static const std::regex code(R"(\s*/\*([0-9a-f]{4,})\*/\s+([^;]*);.*)");
  static const std::regex target(R"(\((\.L_x_\d+)\))");
  std::map<std::string, Section> sections;
  Section* current = nullptr;
  std::istringstream in{std::string(text)};
  int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    ++number;
    if (std::regex_match(line, match, head)) {
      current = &sections[match[1]];
    } else if (current != nullptr && std::regex_match(line, match, label)) {
      current->labels[match[1]] = current->lines.size();
    } else if (std::regex_match(line, match, code)) {
      if (current == nullptr) {
        throw ReportError(fmt::format("{}:{}: an instruction outside .text", file, number));
      }
      Line parsed{parsed_sass(match[2].str()), "", number};
      const std::string& whole = line;
      if (parsed.instruction.mnemonic() == "BRA" && std::regex_search(whole, match, target)) {
        parsed.target = match[1];
      }
      current->lines.push_back(std::move(parsed));
    }
  }
  return sections;
}

}  // namespace

std::map<std::string, InstructionCounts> parsed_sass_counts(const std::string& file,
                                                            std::string_view text) {
  std::map<std::string, InstructionCounts> counts;
  for (const auto& [symbol, section] : sections_of(file, text)) {
    if (section.lines.empty()) throw ReportError(file + ": no instruction of kernel " + symbol);
    counts[symbol] = counts_of(file, section);
  }
  if (counts.empty()) throw ReportError(file + ": holds no kernel; is it of nvdisasm -c?");
  return counts;
}

}  // namespace planegate::perf
