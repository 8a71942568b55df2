#pragma once

#include <string>
#include <vector>

#include <planegate/core/gate_report.h>

namespace planegate::cli {

/// `time: mirror 1.8 s, readback 0.3 s, parity 30.1 s (lattice 20.0 s, bound 9.2 s), chain 2.6 s;
/// 36.2 s in all`, gates and parts in the order in which they first ran. `whole_s`: with what is no
/// gate's.
std::string gate_times(const std::vector<GateReport>& reports, double whole_s);

}  // namespace planegate::cli
