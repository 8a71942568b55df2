#pragma once

#include <string>
#include <vector>

#include <planegate/core/gate_report.h>

namespace planegate::cli {

/// Columns padded to their widest cell, two spaces apart; the first row is underlined.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// One row a report: tensor, shape, plane or consumer, gate, device, verdict.
std::string report_table(const std::vector<GateReport>& reports);

}  // namespace planegate::cli
