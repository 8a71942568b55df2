#include <planegate/core/gate_report.h>

void judge(planegate::GateReport& report) {
#if defined(PLANEGATE_BAD)
  planegate::judged(report);
#else
  report = planegate::judged(report);
#endif
}
