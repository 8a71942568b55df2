#pragma once

#include <string>

#include "gates/perf/ab.h"

namespace planegate::cli {

/// What an A/B run was about, and what came of it.
struct AbReport {
  std::string a, b, workload, device;
  bool seconds = true;            ///< else a metric of the user's
  bool higher_is_better = false;  ///< of the metric: its samples are the inverse
  std::string token = perf::kUngated;
  std::string gate = {};  ///< as in a ledger's entry
  double bar_percent = 1.5;
  int64_t launches = 1;  ///< in one sample
  std::optional<int64_t> vram_delta_bytes = {};
  perf::AbResult result = {};

  bool gated() const { return token != perf::kUngated; }
};

/// Lines: medians and deltas with intervals, noise, prediction, clock, VRAM; the verdict last.
std::string ab_text(const AbReport& report);

/// docs/ab-schema.md.
std::string ab_json(const AbReport& report, int exit_code);

}  // namespace planegate::cli
