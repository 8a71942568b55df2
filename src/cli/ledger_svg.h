#pragma once

#include <string>
#include <vector>

#include "gates/perf/ledger.h"

namespace planegate::cli {

/// The kernel and wall deltas with their intervals as an SVG: one row an entry, newest last, on
/// one axis in percent with a line at zero and, behind a row, its bar. Kernel deltas are filled
/// dots, wall deltas hollow squares: no colour is needed to tell them apart. An entry without
/// deltas keeps its row, and what is UNGATED says so.
/// @post valid XML 1.0, whatever the texts hold (test `LedgerSvg`).
std::string ledger_svg(const std::vector<perf::LedgerEntry>& entries);

/// `text` for XML: markup escaped, characters that XML forbids replaced.
std::string xml_text(const std::string& text);

}  // namespace planegate::cli
