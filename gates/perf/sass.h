#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace planegate::perf {

/// The parts of one line of SASS that say who waits for whom.
struct SassInstruction {
  std::string opcode;  ///< `LDG.E.128`, without the predicate
  std::vector<std::string> operands;
  std::string_view mnemonic() const;  ///< `LDG`
};

SassInstruction parsed_sass(std::string_view text);

/// Registers [first, first + count) of `R4`; pairs behind other letters are none.
using Registers = std::pair<int, int>;
/// What it writes; count 0: nothing that a scoreboard gives.
Registers written(const SassInstruction& instruction);
std::vector<Registers> read_by(const SassInstruction& instruction);

enum class Producer { kNone, kGlobal, kAsyncCopy, kShared, kMath, kOther };
/// What a scoreboard waits for when this is the producer.
Producer producer_kind(const SassInstruction& instruction);

}  // namespace planegate::perf
