#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

/// What was tried, what came out and what became of it: `planegate.ledger/1`, one JSON object a
/// line (docs/ledger-schema.md). The file is in ledger_file.h.
namespace planegate::perf {

inline constexpr const char* kLedgerSchema = "planegate.ledger/1";
/// The token of a number that no green gates stand behind.
inline constexpr const char* kUngated = "UNGATED";
/// Whose gates a token stands for: those of `planegate token`, or a command of the user's, which
/// follows the prefix.
inline constexpr const char* kGateOfPlanegate = "planegate";
inline constexpr const char* kGateOfCommand = "command: ";

/// How b compares with a.
enum class Comparison { kFaster, kSlower, kEquivalent, kUndecided };

/// What became of b.
enum class LedgerVerdict {
  kLanded,
  kReverted,
  kMeasuredOnly,
  kWaiting,  ///< worth another try when `retry_when` holds
};

/// `faster`, `measured-only` and so on: as the file and the command spell them.
std::string_view text_of(Comparison comparison);
std::string_view text_of(LedgerVerdict verdict);
/// @throws ContractError: no such name; names all.
Comparison comparison_named(std::string_view name);
LedgerVerdict ledger_verdict_named(std::string_view name);

/// Time of b against that of a, percent; negative: b takes less. @pre low <= percent <= high
struct Delta {
  double percent = 0;
  double low = 0, high = 0;  ///< the interval
};

struct LedgerEntry {
  std::string time;       ///< UTC, ISO 8601: `2026-01-31T12:00:00Z`
  std::string mechanism;  ///< what was tried
  std::string a, b;       ///< names of what was compared
  std::string device;
  std::string workload;  ///< shape or workload
  std::string token = kUngated;
  std::string gate;    ///< kGateOfPlanegate, or kGateOfCommand and the command; empty: not told
  std::string budget;  ///< may be empty
  std::optional<Delta> kernel, wall;
  std::optional<double> bar_percent;  ///< differences below it count for nothing
  std::optional<int64_t> vram_delta_bytes;
  int64_t pairs = 0;
  Comparison comparison = Comparison::kUndecided;
  LedgerVerdict verdict = LedgerVerdict::kMeasuredOnly;
  std::string retry_when;  ///< the condition, of kWaiting alone
};

/// A line that is no entry: the member and what it must be.
class LedgerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @throws ContractError: the first member that breaks a rule of docs/ledger-schema.md; among them,
///         kWaiting has a retry_when and nothing else has one, and what is UNGATED has not landed.
void check(const LedgerEntry& entry);

/// The entry as one line, newline included. @throws ContractError as check().
std::string ledger_line(const LedgerEntry& entry);

/// @post parsed_ledger_line(ledger_line(e)) equals e. Unknown members are ignored.
/// @throws LedgerError: another schema, a missing member, another type, or a rule of check().
///         std::nullopt where `line` is no JSON at all.
std::optional<LedgerEntry> parsed_ledger_line(std::string_view line);

}  // namespace planegate::perf
