#pragma once

#include <optional>
#include <string>
#include <vector>

#include <planegate/core/gate_report.h>

namespace planegate::cli {

/// What a run of `verify` was, beside its reports.
struct RunRecord {
  std::string model;
  std::string device;
  std::string device_description;
  std::optional<int64_t> nt;
  uint64_t seed = 1;
  int exit_code = 0;
};

inline constexpr const char* kReportSchema = "planegate.report/1";

/// The JSON form of a run; every member is described in docs/report-schema.md.
std::string json_report(const RunRecord& run, const std::vector<GateReport>& reports);

}  // namespace planegate::cli
