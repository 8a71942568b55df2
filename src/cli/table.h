#pragma once

#include <string>
#include <vector>

#include <planegate/core/gate_report.h>

namespace planegate::cli {

/// Columns padded to their widest cell, two spaces apart; the first row is underlined.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// One row a report: tensor, shape, plane or consumer, gate, device, verdict.
std::string report_table(const std::vector<GateReport>& reports);

/// What the parts of reports that pass have to say beside their verdict, each once:
/// `note on 6 passes: addresses: undetermined at this shape, qa8: tile (first: w_exp/cp_async
/// od=70 id=512 nsb=2 nt=5)`, a line each. Empty where they say nothing.
std::string notes_of_passes(const std::vector<GateReport>& reports);

}  // namespace planegate::cli
