#include "gates/parity.h"

#include <fmt/format.h>

#include <planegate/devices/host_device.h>

#include "gates/compare.h"
#include "gates/pad_bytes.h"

namespace planegate::gates {
namespace {

constexpr int kCudaRepeats = 8;

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
  const Expected reference = dataset.reference(consumer.arithmetic);
  return compare_elements(dataset.shape(), reference.y, reference.bound, again.y);
}

/// One way to run again that must not change the output.
struct Variation {
  std::string name;
  Schedule schedule;
  bool twin = false;     ///< on planes with other pad and guard bytes
  bool company = false;  ///< beside another kernel
};

std::vector<Variation> variations(const Context& context) {
  using Order = Schedule::Order;
  constexpr const char* kOtherFill = "other pad and guard bytes";
  if (context.device.kind() == DeviceKind::kHost) {
    return {{"a plain repeat", {Order::kAscending, 0}},
            {kOtherFill, {Order::kAscending, 0}, true},
            {"descending lanes and warps", {Order::kDescending, 0}},
            {"random lanes and warps", {Order::kRandom, context.seed}}};
  }
  std::vector<Variation> repeats;
  for (int i = 1; i <= kCudaRepeats; ++i) {
    const bool twin = i % 2 == 0;
    const bool company = i > kCudaRepeats / 2;
    repeats.push_back({fmt::format("repeat {}{}{}{}", i, twin ? ", " : "", twin ? kOtherFill : "",
                                   company ? ", beside another kernel" : ""),
                       {},
                       twin,
                       company});
  }
  return repeats;
}

/// Sets the host executor's order for a scope; nothing to set on other devices.
class ScheduleScope {
 public:
  ScheduleScope(Device& device, Schedule schedule) : host_(dynamic_cast<HostDevice*>(&device)) {
    if (host_ == nullptr) return;
    before_ = host_->schedule();
    host_->set_schedule(schedule);
  }
  ~ScheduleScope() {
    if (host_ != nullptr) host_->set_schedule(before_);
  }
  ScheduleScope(const ScheduleScope&) = delete;
  ScheduleScope& operator=(const ScheduleScope&) = delete;

 private:
  HostDevice* host_;
  Schedule before_;
};

/// How many of `all` from `at` on can run together: on host one, else those with or without
/// company.
size_t group_size(const Context& context, const std::vector<Variation>& all, size_t at) {
  size_t end = at + 1;
  const bool host = context.device.kind() == DeviceKind::kHost;
  while (!host && end < all.size() && all[end].company == all[at].company) ++end;
  return end - at;
}

}  // namespace

GateReport lattice(Context& context, const ConsumerSpec& consumer, Dataset& dataset,
                   std::byte guard_fill) {
  GateReport report = started_part(context, "lattice", consumer, dataset);
  if (!dataset.exact()) {
    return skipped(std::move(report), "no exact lattice at this id: partial sums pass 2^24");
  }
  dataset.ensure_planes(consumer, guard_fill);
  const ConsumerRun result = run(context, consumer, dataset, guard_fill);
  if (!result.failure.empty()) return failed(std::move(report), result.failure);
  const std::span<const double> y_star = dataset.exact_y();
  return compared(
      std::move(report), result, compare_elements(dataset.shape(), y_star, {}, result.y),
      "the planes hold the mirrors' bytes and all sums are exact: the consumer reads other bytes "
      "than its contracts name, decodes them differently, or a mirror is wrong itself");
}

GateReport bound(Context& context, const ConsumerSpec& consumer, Dataset& file,
                 const ConsumerRun& first) {
  GateReport report = started_part(context, "bound", consumer, file);
  if (!first.failure.empty()) return failed(std::move(report), first.failure);
  const Expected reference = file.reference(consumer.arithmetic);
  report.notes.push_back("bound guards real scales; a single wrong code can hide below it");
  return compared(std::move(report), first,
                  compare_elements(file.shape(), reference.y, reference.bound, first.y),
                  fmt::format("further from y* than {} can round", consumer.arithmetic.text));
}

Twin::Twin(Context& context, const Dataset& file, std::byte guard_fill, std::byte pad_fill)
    : context_(context),
      dataset_(context, file.text(), file.weights(),
               *context.catalog.format(file.activations().format),
               {file.activations().bytes.begin(), file.activations().bytes.end()}),
      guard_fill_(guard_fill),
      pad_fill_(pad_fill) {}

void Twin::ensure_planes(const ConsumerSpec& consumer) {
  for (const FieldUse& use : consumer.reads) {
    const Contract& plane = *use.plane;
    const std::string& tensor = dataset_.tensor_of(plane);
    if (dataset_.store().find(tensor, plane) != nullptr) continue;
    SealedBytes bytes = dataset_.unsealed_mirror(plane);
    fill_pads(plane, dataset_.shape(), pad_fill_, bytes.writable());
    dataset_.store().add(tensor, plane, dataset_.shape(), bytes.bytes(), guard_fill_);
  }
  context_.device.synchronise();
}

GateReport independence(Context& context, const ConsumerSpec& consumer, Dataset& file,
                        const ConsumerRun& first) {
  Twin twin(context, file);
  return independence(context, consumer, file, twin, first);
}

GateReport independence(Context& context, const ConsumerSpec& consumer, Dataset& file, Twin& twin,
                        const ConsumerRun& first) {
  const bool host = context.device.kind() == DeviceKind::kHost;
  GateReport report =
      started_part(context, host ? "independence" : "repeatability", consumer, file);
  if (!first.failure.empty()) return failed(std::move(report), first.failure);
  twin.ensure_planes(consumer);
  const std::vector<Variation> all = variations(context);
  bool beside_all = true;
  for (size_t at = 0, size = 0; at < all.size(); at += size) {
    size = group_size(context, all, at);
    std::vector<RunSetup> setups;
    for (size_t i = at; i < at + size; ++i) {
      setups.push_back(all[i].twin ? RunSetup{&twin.dataset(), twin.guard_fill()}
                                   : RunSetup{&file});
    }
    const ScheduleScope scope(context.device, all[at].schedule);
    const ConsumerRuns again = run_all(context, consumer, setups, all[at].company);
    beside_all = beside_all && again.beside_all;
    for (size_t i = 0; i < size; ++i) {
      const ConsumerRun& one = again.runs[i];
      const std::string& name = all[at + i].name;
      if (!one.failure.empty()) return failed(std::move(report), name + ": " + one.failure);
      report = compared(std::move(report), one, repeated(consumer, file, first, one),
                        "the output changes with " + name +
                            ": the consumer depends on what its contracts do not promise");
      if (report.verdict == Verdict::kFail) return report;
    }
  }
  if (!beside_all) report.notes.push_back("the kernel beside did not run the whole time");
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
