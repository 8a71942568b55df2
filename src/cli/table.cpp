#include "cli/table.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace planegate::cli {
namespace {

std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) out += fmt::format("{:<{}}", cells[i], widths[i] + 2);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string shape_text(const Shape& shape) {
  return fmt::format("{} x {}, nt {}", shape.od(), shape.id(), shape.nt());
}

std::string verdict_text(const GateReport& report) {
  if (report.verdict == Verdict::kSkipped) return "skipped: " + report.reason;
  if (report.verdict == Verdict::kFail && report.difference.count > 0) {
    return fmt::format("FAIL: {} of {} {}", report.difference.count, report.compared, report.unit);
  }
  if (report.verdict == Verdict::kFail) return "FAIL: " + report.diagnosis;
  std::string out = fmt::format("pass: {} {}", report.compared, report.unit);
  if (report.gate == "dispatch" && !report.notes.empty()) out += ", " + report.notes.front();
  return out;
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    out += line(rows[i], widths);
    if (i > 0) continue;
    std::vector<std::string> rule;
    for (const size_t width : widths) rule.emplace_back(width, '-');
    out += line(rule, widths);
  }
  return out;
}

std::string report_table(const std::vector<GateReport>& reports) {
  std::vector<std::vector<std::string>> rows = {
      {"tensor", "shape", "plane or consumer", "gate", "device", "verdict"}};
  for (const GateReport& report : reports) {
    rows.push_back({report.tensor, shape_text(report.shape), report.subject, report.gate,
                    report.device, verdict_text(report)});
  }
  return table(rows);
}

std::string notes_of_passes(const std::vector<GateReport>& reports) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const GateReport*>> reports_with;
  for (const GateReport& report : reports) {
    if (report.verdict != Verdict::kPass) continue;
    for (const GateReport& part : report.parts) {
      for (const std::string& note : part.notes) {
        const std::string said = part.gate + ": " + note;
        if (reports_with[said].empty()) order.push_back(said);
        reports_with[said].push_back(&report);
      }
    }
  }
  std::string out;
  for (const std::string& said : order) {
    const auto& with = reports_with[said];
    out += fmt::format("note on {} pass{}: {} (first: {} {})\n", with.size(),
                       with.size() == 1 ? "" : "es", said, with.front()->subject,
                       with.front()->shape.text());
  }
  return out;
}

}  // namespace planegate::cli
