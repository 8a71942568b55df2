#pragma once

#include <string>

#include <planegate/core/catalog.h>
#include <planegate/core/gate_report.h>
#include <planegate/devices/device.h>

namespace planegate::gates {

/// What all gates of a run share.
struct Context {
  const Catalog& catalog;
  Device& device;
  uint64_t seed = 1;
  /// `planegate verify model.gguf --nt 70 --seed 1`: what a report's repeat line starts with.
  std::string command = "planegate verify";
};

/// A report with everything but its result.
GateReport started(const Context& context, std::string gate, std::string subject,
                   const std::string& tensor, const Shape& shape);

}  // namespace planegate::gates
