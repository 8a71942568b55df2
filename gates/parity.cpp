#include "gates/parity.h"

#include <fmt/format.h>

#include <planegate/devices/host_device.h>

#include "gates/compare.h"

namespace planegate::gates {
namespace {

constexpr int kCudaRepeats = 8;
constexpr std::byte kOtherGuard{0x5A};

GateReport started_part(const Context& context, const std::string& part,
                        const ConsumerSpec& consumer, const Dataset& dataset) {
  GateReport report =
      started(context, part, consumer.name, dataset.weights().name, dataset.shape());
  report.unit = "elements";
  report.data = dataset.text();
  return report;
}

GateReport failed(GateReport report, std::string diagnosis) {
  report.verdict = Verdict::kFail;
  report.diagnosis = std::move(diagnosis);
  return report;
}

/// The report of an output that was compared; `diagnosis` applies if it differs.
GateReport compared(GateReport report, const ConsumerRun& result, Difference difference,
                    const std::string& diagnosis) {
  report.compared += static_cast<int64_t>(result.y.size());
  report.difference = std::move(difference);
  if (report.difference.count > 0) {
    const int64_t unwritten = count_unwritten(result.y);
    report.diagnosis =
        unwritten > 0 ? fmt::format("{} elements were never written", unwritten) : diagnosis;
  }
  return judged(std::move(report));
}

/// `first` against another run of the same consumer, as far as it promises to be repeatable.
Difference repeated(const ConsumerSpec& consumer, Dataset& dataset, const ConsumerRun& first,
                    const ConsumerRun& again) {
  if (consumer.deterministic) return compare_bits(dataset.shape(), first.y, again.y);
  const oracle::Reference& reference = dataset.reference(consumer.arithmetic);
  return compare_elements(dataset.shape(), reference.y, reference.bound, again.y);
}

/// One way to run again that must not change the output.
struct Variation {
  std::string name;
  Schedule schedule;
  bool other_guards = false;
};

std::vector<Variation> variations(const Context& context) {
  using Order = Schedule::Order;
  if (context.device.kind() == DeviceKind::kHost) {
    return {{"a plain repeat", {Order::kAscending, 0}},
            {"other guard bytes", {Order::kAscending, 0}, true},
            {"descending lanes and warps", {Order::kDescending, 0}},
            {"random lanes and warps", {Order::kRandom, context.seed}}};
  }
  std::vector<Variation> repeats;
  for (int i = 1; i <= kCudaRepeats; ++i) {
    const bool other_guards = i % 2 == 0;
    repeats.push_back({fmt::format("repeat {}{}", i, other_guards ? ", other guard bytes" : ""),
                       {},
                       other_guards});
  }
  return repeats;
}

/// Sets the host executor's order for a scope; nothing to set on other devices.
class ScheduleScope {
 public:
  ScheduleScope(Device& device, Schedule schedule) : host_(dynamic_cast<HostDevice*>(&device)) {
    if (host_ != nullptr) host_->set_schedule(schedule);
  }
  ~ScheduleScope() {
    if (host_ != nullptr) host_->set_schedule({});
  }
  ScheduleScope(const ScheduleScope&) = delete;
  ScheduleScope& operator=(const ScheduleScope&) = delete;

 private:
  HostDevice* host_;
};

}  // namespace

GateReport lattice(Context& context, const ConsumerSpec& consumer, Dataset& dataset) {
  GateReport report = started_part(context, "lattice", consumer, dataset);
  if (!dataset.exact()) {
    return skipped(std::move(report), "no exact lattice at this id: partial sums pass 2^24");
  }
  dataset.ensure_planes(consumer);
  const ConsumerRun result = run(context, consumer, dataset);
  if (!result.failure.empty()) return failed(std::move(report), result.failure);
  const std::vector<double>& y_star = dataset.exact_y(consumer.arithmetic);
  return compared(
      std::move(report), result, compare_elements(dataset.shape(), y_star, {}, result.y),
      "the planes hold the right bytes and all sums are exact: the consumer reads other "
      "bytes than its contracts name, or decodes them differently");
}

GateReport bound(Context& context, const ConsumerSpec& consumer, Dataset& file,
                 const ConsumerRun& first) {
  GateReport report = started_part(context, "bound", consumer, file);
  if (!first.failure.empty()) return failed(std::move(report), first.failure);
  const oracle::Reference& reference = file.reference(consumer.arithmetic);
  report.notes.push_back("bound guards real scales; a single wrong code can hide below it");
  return compared(std::move(report), first,
                  compare_elements(file.shape(), reference.y, reference.bound, first.y),
                  fmt::format("further from y* than {} can round", consumer.arithmetic.text));
}

GateReport independence(Context& context, const ConsumerSpec& consumer, Dataset& file,
                        const ConsumerRun& first) {
  const bool host = context.device.kind() == DeviceKind::kHost;
  GateReport report =
      started_part(context, host ? "independence" : "repeatability", consumer, file);
  if (!first.failure.empty()) return failed(std::move(report), first.failure);
  Dataset other(context, file.text(), file.weights(),
                *context.catalog.format(file.activations().format),
                {file.activations().bytes.begin(), file.activations().bytes.end()});
  other.ensure_planes(consumer, kOtherGuard);
  for (const Variation& variation : variations(context)) {
    const ScheduleScope scope(context.device, variation.schedule);
    const ConsumerRun again = variation.other_guards ? run(context, consumer, other, kOtherGuard)
                                                     : run(context, consumer, file);
    if (!again.failure.empty()) {
      return failed(std::move(report), variation.name + ": " + again.failure);
    }
    report = compared(std::move(report), again, repeated(consumer, file, first, again),
                      "the output changes with " + variation.name +
                          ": the consumer depends on what its contracts do not promise");
    if (report.verdict == Verdict::kFail) break;
  }
  return report;
}

GateReport chain(Context& context, const ConsumerSpec& consumer, Dataset& produced,
                 const ConsumerRun& first) {
  GateReport report = started_part(context, "chain", consumer, produced);
  if (!first.failure.empty()) return failed(std::move(report), first.failure);
  const ConsumerRun again = run(context, consumer, produced);
  if (!again.failure.empty()) return failed(std::move(report), again.failure);
  return compared(std::move(report), again, repeated(consumer, produced, first, again),
                  "every gate is green alone, but the producers' own bytes end to end give another "
                  "output: a plane was registered or bound wrongly on the way");
}

}  // namespace planegate::gates
