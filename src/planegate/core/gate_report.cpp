#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <planegate/core/gate_report.h>

namespace planegate {
namespace {

constexpr const char* kNothingCompared = "nothing was compared";
constexpr const char* kIndent = "  ";

/// Every line of `block` moved right by one step; an empty block adds nothing.
void append_indented(std::string& out, std::string_view block) {
  while (!block.empty()) {
    const size_t end = std::min(block.find('\n'), block.size());
    out += kIndent;
    out += block.substr(0, end);
    out += '\n';
    block.remove_prefix(std::min(end + 1, block.size()));
  }
}

void append_labelled(std::string& out, const char* label, const std::string& value) {
  if (!value.empty()) append_indented(out, label + value);
}

std::string subject_text(const GateReport& report) {
  std::string out;
  if (!report.tensor.empty()) out += "tensor " + report.tensor;
  if (!report.device.empty()) out += (out.empty() ? "on " : " on ") + report.device;
  if (!report.data.empty()) out += (out.empty() ? "data " : ", data ") + report.data;
  return out;
}

void append_findings(std::string& out, const GateReport& report) {
  switch (report.verdict) {
    case Verdict::kPass:
      append_indented(out, fmt::format("{} {} compared, all equal", report.compared, report.unit));
      break;
    case Verdict::kSkipped:
      append_indented(out, report.reason);
      break;
    case Verdict::kFail:
      if (report.difference.count > 0) {
        append_indented(out, fmt::format("{} of {} {} differ", report.difference.count,
                                         report.compared, report.unit));
      }
      append_labelled(out, "first: ", report.difference.first);
      append_labelled(out, "want ", report.difference.want);
      append_labelled(out, "have ", report.difference.have);
      append_indented(out, report.diagnosis);
      append_labelled(out, "repeat: ", report.repeat);
      break;
  }
}

/// A part in one line: its findings stand in the report that it was folded into.
std::string part_line(const GateReport& part) {
  std::string out = fmt::format("{} {}: ", part.gate, text(part.verdict));
  switch (part.verdict) {
    case Verdict::kPass:
      out += fmt::format("{} {}", part.compared, part.unit);
      break;
    case Verdict::kSkipped:
      out += part.reason;
      break;
    case Verdict::kFail:
      out += part.difference.count == 0 ? part.diagnosis
                                        : fmt::format("{} of {} {} differ", part.difference.count,
                                                      part.compared, part.unit);
      break;
  }
  return part.data.empty() ? out : out + " (" + part.data + ")";
}

const GateReport* first_part(const GateReport& report, Verdict verdict) {
  const auto found = std::find_if(report.parts.begin(), report.parts.end(),
                                  [&](const GateReport& p) { return p.verdict == verdict; });
  return found == report.parts.end() ? nullptr : &*found;
}

void add_up_compared(GateReport& report) {
  report.compared = 0;
  report.unit = report.parts.front().unit;
  for (const GateReport& part : report.parts) {
    report.compared += part.compared;
    if (part.unit != report.unit) report.unit = "values";
  }
}

}  // namespace

const char* text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kSkipped:
      return "skipped";
  }
  return "";
}

std::string GateReport::headline() const {
  return fmt::format("{} {} {} {}", gate, planegate::text(verdict), subject, shape.text());
}

GateReport judged(GateReport report) {
  if (report.difference.count != 0) {
    report.verdict = Verdict::kFail;
  } else if (report.compared <= 0) {
    return skipped(std::move(report), kNothingCompared);
  } else {
    report.verdict = Verdict::kPass;
  }
  report.reason.clear();
  return report;
}

GateReport skipped(GateReport report, std::string reason) {
  report.verdict = Verdict::kSkipped;
  report.reason = std::move(reason);
  return report;
}

GateReport lost(GateReport report, std::string diagnosis) {
  report.verdict = Verdict::kFail;
  report.device_lost = true;
  report.diagnosis = std::move(diagnosis);
  return report;
}

GateReport folded(GateReport report) {
  if (report.parts.empty()) return skipped(std::move(report), kNothingCompared);
  if (const GateReport* failed = first_part(report, Verdict::kFail)) {
    report.verdict = Verdict::kFail;
    report.reason.clear();
    report.compared = failed->compared;
    report.unit = failed->unit;
    report.data = failed->data;
    report.difference = failed->difference;
    report.diagnosis = failed->diagnosis;
    if (report.repeat.empty()) report.repeat = failed->repeat;
    return report;
  }
  add_up_compared(report);
  if (const GateReport* part = first_part(report, Verdict::kSkipped)) {
    std::string reason = part->gate + ": " + part->reason;
    return skipped(std::move(report), std::move(reason));
  }
  return judged(std::move(report));
}

std::string text(const GateReport& report) {
  std::string out = report.headline() + "\n";
  append_indented(out, subject_text(report));
  append_findings(out, report);
  for (const std::string& note : report.notes) append_indented(out, "note: " + note);
  for (const GateReport& part : report.parts) {
    append_indented(out, part_line(part));
    for (const std::string& note : part.notes) append_indented(out, "  note: " + note);
  }
  return out;
}

bool device_lost(const std::vector<GateReport>& reports) {
  return std::any_of(reports.begin(), reports.end(),
                     [](const GateReport& report) { return report.device_lost; });
}

Verdict overall(const std::vector<GateReport>& reports) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(reports.begin(), reports.end(),
                       [&](const GateReport& r) { return r.verdict == verdict; });
  };
  if (any(Verdict::kFail)) return Verdict::kFail;
  return reports.empty() || any(Verdict::kSkipped) ? Verdict::kSkipped : Verdict::kPass;
}

}  // namespace planegate
