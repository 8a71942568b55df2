#include "gates/addresses.h"

#include <algorithm>

#include <fmt/format.h>

namespace planegate::gates {

GateReport addresses(Context& context, const ConsumerSpec& consumer, const std::string& tensor,
                     const Shape& shape) {
  GateReport report = started(context, "addresses", consumer.name, tensor, shape);
  report.unit = "addresses";
  std::vector<FieldUse> planes = consumer.reads;
  std::stable_partition(planes.begin(), planes.end(),
                        [](const FieldUse& use) { return use.plane->role == Role::kWeights; });
  for (const FieldUse& use : planes) {
    if (use.plane->role == Role::kActivations && report.difference.count > 0) {
      // One-hot weights that are read elsewhere show nothing of the activations.
      report.notes.push_back(use.plane->name + " was not probed: its probes are weights");
      continue;
    }
    const Tomogram tomogram = observe(context, consumer, use, shape);
    if (!tomogram.failure.empty()) {
      report.verdict = Verdict::kFail;
      report.diagnosis = fmt::format("{}: {}", use.plane->name, tomogram.failure);
      return report;
    }
    const Explanation explanation = explain(tomogram, context.catalog);
    report.compared += explanation.compared;
    if (!explanation.undetermined.empty()) {
      report.notes.push_back(fmt::format("undetermined at this shape, {}: {}", use.plane->name,
                                         explanation.undetermined));
    }
    if (explanation.differing == 0) continue;
    report.difference.count += explanation.differing;
    if (report.difference.first.empty()) {
      report.difference.first = explanation.first;
      report.diagnosis = explanation.sentence;
    }
  }
  return judged(std::move(report));
}

}  // namespace planegate::gates
