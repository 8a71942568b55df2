#include "gates/addresses.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace planegate::gates {
namespace {

/// The maps of the planes of one operand beside their contracts.
struct Operand {
  int64_t compared = 0, differing = 0;
  std::string first, sentence;
  bool explained = false;
  std::string no_map;  ///< why there is none of some plane
  std::vector<std::string> notes;

  bool right() const { return differing == 0 && no_map.empty(); }
};

/// Declared to be read by nobody, and so it is: the fill changes these bytes too.
std::string unread_fields(const FieldUse& use) {
  std::vector<std::string> names;
  for (const Field& field : use.plane->fields) {
    const auto named = std::find(use.fields.begin(), use.fields.end(), field.name);
    if (named == use.fields.end()) names.emplace_back(field.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void add_plane(Context& context, const ConsumerSpec& consumer, const FieldUse& use,
               const Shape& shape, Operand& operand) {
  const Tomogram tomogram = observe(context, consumer, use, shape);
  const std::string& plane = use.plane->name;
  if (!tomogram.failure.empty()) {
    if (operand.no_map.empty()) operand.no_map = fmt::format("{}: {}", plane, tomogram.failure);
    return;
  }
  const Explanation explanation = explain(tomogram, context.catalog);
  operand.compared += explanation.compared;
  operand.differing += explanation.differing;
  if (explanation.differing > 0 &&
      (operand.sentence.empty() || (explanation.explained && !operand.explained))) {
    operand.first = explanation.first;
    operand.sentence = explanation.sentence;
    operand.explained = explanation.explained;
  }
  if (!explanation.undetermined.empty()) {
    operand.notes.push_back(
        fmt::format("undetermined at this shape, {}: {}", plane, explanation.undetermined));
  }
  if (const std::string unread = unread_fields(use); !unread.empty()) {
    operand.notes.push_back(fmt::format("unread, {}: {}", plane, unread));
  }
}

Operand operand(Context& context, const ConsumerSpec& consumer, Role role, const Shape& shape) {
  Operand maps;
  for (const FieldUse& use : consumer.reads) {
    if (use.plane->role == role) add_plane(context, consumer, use, shape, maps);
  }
  return maps;
}

/// `padded, w_dsc`
std::string planes_of(const ConsumerSpec& consumer, Role role) {
  std::vector<std::string> names;
  for (const FieldUse& use : consumer.reads) {
    if (use.plane->role == role) names.push_back(use.plane->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void add(const Operand& operand, GateReport& report) {
  report.compared += operand.compared;
  report.notes.insert(report.notes.end(), operand.notes.begin(), operand.notes.end());
}

void blame(const Operand& operand, GateReport& report) {
  report.difference.count = operand.differing;
  report.difference.first = operand.first;
  report.diagnosis = operand.sentence;
}

}  // namespace

GateReport addresses(Context& context, const ConsumerSpec& consumer, const std::string& tensor,
                     const Shape& shape) {
  GateReport report = started(context, "addresses", consumer.name, tensor, shape);
  report.unit = "addresses";
  const Operand weights = operand(context, consumer, Role::kWeights, shape);
  Operand activations = operand(context, consumer, Role::kActivations, shape);
  if (!weights.right() && activations.right()) {
    // The map of the weights was made with more tokens: there the activations may be misread.
    activations = operand(context, consumer, Role::kActivations, many_tokens(consumer, shape));
  }
  if (weights.right() && activations.right()) {
    add(weights, report);
    add(activations, report);
    return judged(std::move(report));
  }
  // One operand that is read elsewhere makes both maps wrong: the better explained one is at fault.
  const bool of_activations =
      weights.right() || (activations.explained && !weights.explained) ||
      (!activations.right() && activations.no_map.empty() && !weights.no_map.empty());
  const Operand& at_fault = of_activations ? activations : weights;
  const Operand& other = of_activations ? weights : activations;
  add(at_fault, report);
  if (at_fault.differing > 0) {
    blame(at_fault, report);
  } else {
    report.diagnosis = at_fault.no_map;
  }
  if (other.right() && !at_fault.explained) {
    report.diagnosis += fmt::format(
        "; or the mirrors of {} put one-hot data elsewhere: they are "
        "read where their contracts have them",
        planes_of(consumer, of_activations ? Role::kWeights : Role::kActivations));
  }
  if (weights.explained && activations.explained) {
    report.diagnosis += "; or, with the same output, " + other.sentence;
  } else if (!other.right()) {
    report.notes.push_back(fmt::format("{} not judged: probed with one-hot data that is misread",
                                       of_activations ? "weights" : "activations"));
  }
  report.verdict = Verdict::kFail;
  return report;
}

GateReport folded_parity(GateReport parity) {
  GateReport report = folded(std::move(parity));
  if (report.parts.empty()) return report;
  const GateReport& last = report.parts.back();
  const bool compared = report.difference.count > 0;  // else a fault, which speaks for itself
  if (report.verdict != Verdict::kFail || !compared || last.gate != "addresses") return report;
  if (last.verdict != Verdict::kFail) {
    report.diagnosis = "every address is the contract's: " + report.diagnosis;
  } else if (last.difference.count > 0 && last.diagnosis.find(kNoStridedMap) == std::string::npos) {
    report.diagnosis = last.diagnosis;
  } else if (report.diagnosis != last.diagnosis) {
    report.diagnosis += "; " + last.diagnosis;
  }
  return report;
}

}  // namespace planegate::gates
