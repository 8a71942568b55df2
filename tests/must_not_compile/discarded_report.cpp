#include <planegate/core/gate_report.h>

#include "gates/parity.h"

void verify(planegate::gates::Context& context, const planegate::ConsumerSpec& consumer,
            planegate::gates::Dataset& dataset) {
#if defined(PLANEGATE_BAD)
  planegate::gates::lattice(context, consumer, dataset);
#else
  const planegate::GateReport report = planegate::gates::lattice(context, consumer, dataset);
  static_cast<void>(report);
#endif
}
