#include "gates/perf/sass.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

namespace planegate::perf {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t;") + 1 - from);
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

bool holds(const SassInstruction& instruction, std::string_view part) {
  return instruction.opcode.find(part) != std::string::npos;
}

/// Registers that one result or operand of `instruction` takes.
int width(const SassInstruction& instruction) {
  if (instruction.mnemonic() == "LDSM") {
    return holds(instruction, ".4") ? 4 : holds(instruction, ".2") ? 2 : 1;
  }
  if (instruction.mnemonic().ends_with("MMA")) return 4;
  return holds(instruction, ".128") ? 4 : holds(instruction, ".64") ? 2 : 1;
}

/// Stores, asynchronous copies and reductions write no register.
bool writes_a_register(std::string_view mnemonic) {
  return !one_of(mnemonic, {"STG", "ST", "STS", "STL", "STSM", "RED", "LDGSTS", "LDGDEPBAR",
                            "DEPBAR", "BAR", "EXIT", "BRA", "MEMBAR", "UBLKCP", "WARPSYNC"});
}

/// Appends each `R<n>` of `operand`, `wide` registers or two for `R2.64`.
void collect(std::string_view operand, int wide, std::vector<Registers>& out) {
  for (size_t i = 0; i + 1 < operand.size(); ++i) {
    const bool starts = i == 0 || std::isalnum(static_cast<unsigned char>(operand[i - 1])) == 0;
    if (!starts || operand[i] != 'R' ||
        std::isdigit(static_cast<unsigned char>(operand[i + 1])) == 0)
      continue;
    int number = 0;
    size_t at = i + 1;
    for (; at < operand.size() && std::isdigit(static_cast<unsigned char>(operand[at])) != 0;
         ++at) {
      number = number * 10 + (operand[at] - '0');
    }
    const bool pair = operand.substr(at).starts_with(".64");
    const bool address = operand.find('[') < i;
    out.emplace_back(number, pair ? 2 : address ? 1 : wide);
  }
}

}  // namespace

std::string_view SassInstruction::mnemonic() const {
  return std::string_view(opcode).substr(0, opcode.find('.'));
}

SassInstruction parsed_sass(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('@')) text = trimmed(text.substr(std::min(text.find(' '), text.size())));
  SassInstruction instruction;
  const size_t end = std::min(text.find(' '), text.size());
  instruction.opcode = text.substr(0, end);
  std::string_view rest = trimmed(text.substr(end));
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    instruction.operands.emplace_back(trimmed(rest.substr(0, comma)));
    rest = comma == rest.size() ? std::string_view() : trimmed(rest.substr(comma + 1));
  }
  return instruction;
}

Registers written(const SassInstruction& instruction) {
  if (instruction.operands.empty() || !writes_a_register(instruction.mnemonic())) return {0, 0};
  std::vector<Registers> found;
  // SHFL and some others name a predicate first.
  for (const std::string& operand : instruction.operands) {
    if (operand.starts_with('P')) continue;
    collect(operand, width(instruction), found);
    break;
  }
  return found.empty() ? Registers{0, 0} : found[0];
}

std::vector<Registers> read_by(const SassInstruction& instruction) {
  std::vector<Registers> found;
  bool destination = writes_a_register(instruction.mnemonic());
  for (const std::string& operand : instruction.operands) {
    const bool predicate = operand.starts_with('P');
    if (destination && !predicate) {
      destination = false;
      continue;
    }
    collect(operand, width(instruction), found);
  }
  return found;
}

Producer producer_kind(const SassInstruction& instruction) {
  const std::string_view m = instruction.mnemonic();
  if (one_of(m, {"LDG", "LD", "LDL", "TEX", "TLD", "TLD4", "SULD", "ATOM", "ATOMG"})) {
    return Producer::kGlobal;
  }
  if (one_of(m, {"LDGSTS", "UBLKCP", "UTMALDG"})) return Producer::kAsyncCopy;
  if (one_of(m, {"LDS", "LDSM", "ATOMS", "SHFL"})) return Producer::kShared;
  const bool converts = one_of(m, {"I2F", "F2I", "F2F", "I2I"});
  if (converts || one_of(m, {"MUFU", "DADD", "DMUL", "DFMA", "POPC", "FLO", "BREV"})) {
    return Producer::kMath;
  }
  return one_of(m, {"S2R", "S2UR", "R2UR", "LDC", "CS2R"}) ? Producer::kOther : Producer::kNone;
}

}  // namespace planegate::perf
