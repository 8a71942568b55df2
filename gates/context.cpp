#include "gates/context.h"

namespace planegate::gates {

GateReport started(const Context& context, std::string gate, std::string subject,
                   const std::string& tensor, const Shape& shape) {
  GateReport report;
  report.gate = std::move(gate);
  report.subject = std::move(subject);
  report.tensor = tensor;
  report.shape = shape;
  report.device = context.device.kind() == DeviceKind::kHost ? "host" : context.device.name();
  return report;
}

}  // namespace planegate::gates
