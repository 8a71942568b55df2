#include "cli/json_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace planegate::cli {
namespace {

using Json = nlohmann::ordered_json;

Json shape_json(const Shape& shape) {
  Json json = {{"od", shape.od()}, {"id", shape.id()}, {"nt", shape.nt()}};
  if (shape.id() % kSuperBlockElems == 0) json["nsb"] = shape.nsb();
  return json;
}

Json difference_json(const Difference& difference) {
  return {{"count", difference.count},
          {"first", difference.first},
          {"want", difference.want},
          {"have", difference.have},
          {"fingerprint", fmt::format("{:016x}", difference.fingerprint)}};
}

Json report_json(const GateReport& report) {
  Json json = {{"gate", report.gate},
               {"subject", report.subject},
               {"tensor", report.tensor},
               {"shape", shape_json(report.shape)},
               {"device", report.device},
               {"verdict", report.verdict == Verdict::kFail ? "fail" : text(report.verdict)},
               {"data", report.data},
               {"compared", report.compared},
               {"unit", report.unit},
               {"seconds", report.seconds}};
  if (!report.reason.empty()) json["reason"] = report.reason;
  if (report.refused) json["refused"] = true;
  if (report.device_lost) json["device_lost"] = true;
  if (report.difference.count > 0) json["difference"] = difference_json(report.difference);
  if (!report.diagnosis.empty()) json["diagnosis"] = report.diagnosis;
  if (!report.repeat.empty()) json["repeat"] = report.repeat;
  if (!report.notes.empty()) json["notes"] = report.notes;
  for (const GateReport& part : report.parts) json["parts"].push_back(report_json(part));
  return json;
}

}  // namespace

std::string json_report(const RunRecord& run, const std::vector<GateReport>& reports) {
  Json json = {{"schema", kReportSchema},
               {"planegate", PLANEGATE_VERSION},
               {"model", run.model},
               {"device", {{"name", run.device}, {"description", run.device_description}}},
               {"seed", run.seed},
               {"exit_code", run.exit_code},
               {"reports", Json::array()}};
  if (run.nt) json["nt"] = *run.nt;
  for (const GateReport& report : reports) json["reports"].push_back(report_json(report));
  // Names come from files: what is no UTF-8 is replaced, not refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace planegate::cli
