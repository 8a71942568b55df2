#include "gates/dispatch_gate.h"

#include <planegate/store/dispatch.h>

#include "gates/compare.h"
#include "gates/consumer_run.h"

namespace planegate::gates {
namespace {

bool same_arithmetic(const Arithmetic& a, const Arithmetic& b, const Shape& shape) {
  return a.exact_elems == b.exact_elems && a.roundings_per_term == b.roundings_per_term &&
         a.operand_relative == b.operand_relative && a.activation_floor == b.activation_floor &&
         a.text == b.text && a.additions_at(shape) == b.additions_at(shape);
}

}  // namespace

GateReport dispatch_gate(Context& context, Dataset& file, const PlaneSwitches& switches) {
  const Shape& shape = file.shape();
  const auto preference = context.catalog.preference(file.weights().format, shape);
  const Choice choice = dispatch(preference, file.store(), file.weights().name,
                                 file.activations().name, shape, switches);
  GateReport report =
      started(context, "dispatch", choice.consumer == nullptr ? "none" : choice.consumer->name,
              file.weights().name, shape);
  report.unit = "elements";
  report.data = file.text();
  report.notes.push_back(choice.text());
  if (choice.consumer == nullptr) {
    return skipped(std::move(report), "no consumer can run: " + choice.text());
  }
  const ConsumerSpec& control_arm = *preference.back();
  file.ensure_planes(control_arm);
  const ConsumerRun chosen = run(context, *choice.consumer, file);
  const ConsumerRun control = run(context, control_arm, file);
  for (const ConsumerRun* one : {&chosen, &control}) {
    if (one->failure.empty()) continue;
    report.verdict = Verdict::kFail;
    report.diagnosis = one->failure;
    return report;
  }
  report.compared = static_cast<int64_t>(chosen.y.size());
  if (same_arithmetic(choice.consumer->arithmetic, control_arm.arithmetic, shape)) {
    report.difference = compare_bits(shape, control.y, chosen.y);
    report.notes.push_back("bit-identical to " + control_arm.name);
  } else {
    const Expected reference = file.reference(choice.consumer->arithmetic);
    report.difference = compare_elements(shape, reference.y, reference.bound, chosen.y);
    report.notes.push_back("other arithmetic than " + control_arm.name + ": within the bound");
  }
  if (report.difference.count > 0) {
    report.diagnosis = "the plane changes the result: " + choice.text();
    report.notes.pop_back();
  }
  return judged(std::move(report));
}

}  // namespace planegate::gates
