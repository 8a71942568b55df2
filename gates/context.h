#pragma once

#include <functional>
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
  /// The command that repeats a gate: of a tensor and `--plane w_exp` or `--consumer NAME`.
  std::function<std::string(const std::string& tensor, const std::string& selection)> repeat =
      [](const std::string&, const std::string&) { return std::string(); };
};

/// A report with everything but its result.
GateReport started(const Context& context, std::string gate, std::string subject,
                   const std::string& tensor, const Shape& shape);

}  // namespace planegate::gates
