#pragma once

#include <string>
#include <vector>

#include "gates/perf/ledger.h"

namespace planegate::cli {

/// One row an entry, newest last, for a terminal; the unit of deltas is percent of a's time.
std::string ledger_table(const std::vector<perf::LedgerEntry>& entries);

/// The same as a Markdown table: `|` and line breaks of the texts are escaped.
std::string ledger_markdown(const std::vector<perf::LedgerEntry>& entries);

/// What waits, and for what; as a table for a terminal or in Markdown.
std::string waiting_table(const std::vector<perf::LedgerEntry>& entries, bool markdown);

}  // namespace planegate::cli
