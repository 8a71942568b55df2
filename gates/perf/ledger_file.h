#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gates/perf/ledger.h"

namespace planegate::perf {

/// A last line that is no JSON: a writer did not finish it.
struct DamagedLine {
  int64_t line = 0;               ///< from 1
  std::filesystem::path kept_as;  ///< FILE.damaged-N; empty: the file cannot be written, so it is
                                  ///< still where it was
};

struct LedgerContent {
  std::vector<LedgerEntry> entries;  ///< oldest first
  std::optional<DamagedLine> damaged;
};

/// All entries of the file at `path`. A damaged *last* line is moved to FILE.damaged-N (the first
/// N that is free) and reported; one that lacks its newline alone gets it. Nothing else is ever
/// rewritten. A damaged line before the last comes from no crash of ours: an error.
/// @throws LedgerError, `FILE:LINE: member: requirement`: damaged lines before the last, other
///         schemas, broken rules, a file that never was a ledger.
///         std::filesystem::filesystem_error: missing, unreadable, or no regular file.
LedgerContent read_ledger(const std::filesystem::path& path);

/// Whether append_to_ledger() could write now; leaves everything as it is.
/// @throws as append_to_ledger().
void require_appendable(const std::filesystem::path& path);

/// Appends one line; makes the file where there is none. Whole or not at all: one write under an
/// exclusive lock, then fsync; a write that comes up short is taken back. Any number of processes
/// may append at once.
/// @return what read_ledger() would have said of the last line before it.
/// @throws ContractError as check(); LedgerError where the first or last line is of no ledger;
///         std::filesystem::filesystem_error with the reason of the system.
std::optional<DamagedLine> append_to_ledger(const std::filesystem::path& path,
                                            const LedgerEntry& entry);

}  // namespace planegate::perf
