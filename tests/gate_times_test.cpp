#include "cli/gate_times.h"

#include <gtest/gtest.h>

namespace planegate::cli {
namespace {

GateReport took(const char* gate, double seconds, std::vector<GateReport> parts = {}) {
  GateReport report;
  report.gate = gate;
  report.seconds = seconds;
  report.parts = std::move(parts);
  return report;
}

TEST(GateTimes, AddsUpByGateAndByPartInOrder) {
  const std::vector<GateReport> reports = {
      took("mirror", 0.5),
      took("readback", 0.25),
      took("mirror", 1.0),
      took("parity", 4.0, {took("lattice", 3.0), took("bound", 1.0)}),
      took("parity", 2.0, {took("lattice", 1.5), took("bound", 0.5)}),
      took("chain", 0.1)};
  EXPECT_EQ(gate_times(reports, 9.04),
            "time: mirror 1.5 s, readback 0.2 s, parity 6.0 s (lattice 4.5 s, bound 1.5 s), chain "
            "0.1 s; 9.0 s in all");
}

TEST(GateTimes, OfAParityWithoutPartsHasNone) {
  EXPECT_EQ(gate_times({took("parity", 0.0)}, 0.1), "time: parity 0.0 s; 0.1 s in all");
}

}  // namespace
}  // namespace planegate::cli
