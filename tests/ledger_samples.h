#pragma once

#include <string>

#include "gates/perf/ledger.h"

namespace planegate::test {

/// An entry of every member but retry_when.
inline perf::LedgerEntry sample_entry(const std::string& mechanism = "staging by 16 bytes") {
  perf::LedgerEntry entry;
  entry.time = "2026-01-31T12:00:00Z";
  entry.mechanism = mechanism;
  entry.a = "w_exp/bytewise";
  entry.b = "w_exp/vectorised";
  entry.device = "H200";
  entry.workload = "od=4096 id=4096 nt=128";
  entry.token = "9f2c4e11aa07b6d2c3";
  entry.gate = perf::kGateOfPlanegate;
  entry.budget = "96 registers of 128";
  entry.kernel = perf::Delta{-3.25, -4.5, -2};
  entry.wall = perf::Delta{-0.5, -1.25, 0.25};
  entry.bar_percent = 1.5;
  entry.vram_delta_bytes = -4096;
  entry.pairs = 40;
  entry.comparison = perf::Comparison::kFaster;
  entry.verdict = perf::LedgerVerdict::kLanded;
  return entry;
}

inline perf::LedgerEntry waiting_entry() {
  perf::LedgerEntry entry = sample_entry("bulk copies");
  entry.time = "2026-02-01T12:00:00Z";
  entry.token = perf::kUngated;
  entry.gate = "";
  entry.budget = "";
  entry.kernel.reset();
  entry.wall.reset();
  entry.bar_percent.reset();
  entry.vram_delta_bytes.reset();
  entry.comparison = perf::Comparison::kUndecided;
  entry.verdict = perf::LedgerVerdict::kWaiting;
  entry.retry_when = "tiles are 256 wide";
  return entry;
}

}  // namespace planegate::test
