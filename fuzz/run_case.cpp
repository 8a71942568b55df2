#include "fuzz/run_case.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "fuzz/generator.h"
#include "gates/addresses.h"
#include "gates/parity.h"

namespace planegate::fuzz {
namespace {

constexpr const char* kTensor = "case.weight";

const Extreme& extreme(const FormatOracle& format, const std::string& field,
                       const std::string& name) {
  std::vector<std::string> names = {kSample};
  for (const Extreme& known : format.extremes) {
    if (known.name == name) return known;
    names.push_back(known.name);
  }
  throw UnknownKnob(field, fmt::format("'{}' is no data of {}; nearest: {}", name, format.format,
                                       fmt::join(nearest(name, names), ", ")));
}

std::vector<std::byte> weight_bytes(const FormatOracle& format, const Case& c) {
  if (c.knobs.weights != kSample) {
    return extreme(format, "knobs.weights", c.knobs.weights).tensor(c.shape);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(format.size_bytes(c.shape)));
  format.sample(c.shape, c.seed, bytes);
  return bytes;
}

std::vector<std::byte> activation_bytes(const FormatOracle& format, const Case& c) {
  if (c.knobs.activations != kSample) {
    return extreme(format, "knobs.activations", c.knobs.activations).tensor(c.shape);
  }
  const std::vector<float> x = gates::sample_activations(c.shape, c.seed);
  return format.quantise({"x", "f32", c.shape, std::as_bytes(std::span(x))});
}

gates::Dataset lattice_of(gates::Context& context, const Case& c, const FormatOracle& weights,
                          const FormatOracle& activations) {
  const auto all = gates::lattices(c.shape);
  const auto n = static_cast<int>(all.size());
  if (c.knobs.lattice < 0 || c.knobs.lattice >= n) {
    throw UnknownKnob("knobs.lattice", fmt::format("{} is not in 0..{}", c.knobs.lattice, n - 1));
  }
  const gates::Lattice& chosen = all[static_cast<size_t>(c.knobs.lattice)];
  return gates::make_dataset(context, c.shape, chosen, weights, activations);
}

/// Consumers of one arithmetic stand together: Y* and bounds are made once for each.
std::vector<const ConsumerSpec*> by_arithmetic(std::vector<const ConsumerSpec*> consumers,
                                               const Shape& shape) {
  const auto key = [&](const ConsumerSpec* consumer) {
    const Arithmetic& arithmetic = consumer->arithmetic;
    return std::tuple(arithmetic.exact_elems, arithmetic.roundings_per_term,
                      arithmetic.additions_at(shape));
  };
  std::stable_sort(consumers.begin(), consumers.end(),
                   [&](const ConsumerSpec* a, const ConsumerSpec* b) { return key(a) < key(b); });
  return consumers;
}

/// The lane order of a case, for a scope.
class OrderScope {
 public:
  OrderScope(Device& device, const Case& c) : host_(dynamic_cast<HostDevice*>(&device)) {
    if (host_ == nullptr) return;
    before_ = host_->schedule();
    host_->set_schedule({c.knobs.order, c.seed});
  }
  ~OrderScope() {
    if (host_ != nullptr) host_->set_schedule(before_);
  }
  OrderScope(const OrderScope&) = delete;
  OrderScope& operator=(const OrderScope&) = delete;

 private:
  HostDevice* host_;
  Schedule before_;
};

}  // namespace

std::vector<GateReport> run_case(const Catalog& catalog, Device& device, const Case& c,
                                 const std::vector<const ConsumerSpec*>& consumers) {
  const FormatOracle* weights = catalog.format(c.format);
  if (weights == nullptr || weights->role != Role::kWeights) {
    throw UnknownKnob("format", fmt::format("'{}' is no registered format of weights", c.format));
  }
  const FormatOracle& activations = catalog.activations();
  const OrderScope order(device, c);
  gates::Context context{catalog, device, c.seed};
  const std::string text = fmt::format("weights {}, activations {}, seed {}", c.knobs.weights,
                                       c.knobs.activations, c.seed);
  const std::vector<std::byte> bytes = weight_bytes(*weights, c);
  const RawTensor tensor{kTensor, c.format, c.shape, bytes};
  gates::Dataset file(context, text, tensor, activations, activation_bytes(activations, c));
  gates::Dataset lattice = lattice_of(context, c, *weights, activations);
  const auto other_guard = c.knobs.guard ^ std::byte{0xFF};
  gates::Twin twin(context, file, other_guard, c.knobs.pad);

  std::vector<GateReport> reports;
  for (const ConsumerSpec* consumer : by_arithmetic(consumers, c.shape)) {
    GateReport report = gates::started(context, "parity", consumer->name, kTensor, c.shape);
    report.unit = "elements";
    try {
      report.parts.push_back(gates::lattice(context, *consumer, lattice, c.knobs.guard));
      file.ensure_planes(*consumer, c.knobs.guard);
      const gates::ConsumerRun first = gates::run(context, *consumer, file, c.knobs.guard);
      report.parts.push_back(gates::bound(context, *consumer, file, first));
      report.parts.push_back(gates::independence(context, *consumer, file, twin, first));
    } catch (const DeviceLost& loss) {
      reports.push_back(lost(std::move(report), loss.what()));
      break;
    }
    reports.push_back(folded(std::move(report)));
  }
  return reports;
}

GateReport explained_case(const Catalog& catalog, Device& device, const Case& c,
                          const ConsumerSpec& consumer) {
  GateReport report = run_case(catalog, device, c, {&consumer}).front();
  if (report.verdict != Verdict::kFail) return report;
  const OrderScope order(device, c);
  gates::Context context{catalog, device, c.seed};
  report.parts.push_back(gates::addresses(context, consumer, kTensor, c.shape));
  return gates::folded_parity(std::move(report));
}

}  // namespace planegate::fuzz
