#include "gates/verify.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <planegate/core/errors.h>

#include "gates/addresses.h"
#include "gates/dispatch_gate.h"
#include "gates/parity.h"
#include "gates/plane_gates.h"

namespace planegate::gates {
namespace {

using Clock = std::chrono::steady_clock;

bool chosen(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

bool reads(const ConsumerSpec& consumer, const Contract& plane) {
  return std::any_of(consumer.reads.begin(), consumer.reads.end(),
                     [&](const FieldUse& use) { return use.plane == &plane; });
}

std::string subject_of(const Contract& plane) {
  return plane.format + "/" + plane.name;
}

/// One tensor's way through the gates.
class TensorRun {
 public:
  TensorRun(Context& context, const RawTensor& weights, const Selection& selection,
            const OnReport& on_report, const OnStage& on_stage)
      : context_(context),
        weights_(weights),
        selection_(selection),
        on_report_(on_report),
        on_stage_(on_stage),
        weight_format_(format(weights.format)),
        activation_format_(context.catalog.activations()) {
    select();
  }

  std::vector<GateReport> run() {
    try {
      if (scales_are_finite()) run_gates();
    } catch (const DeviceLost& loss) {
      keep_what_there_is(loss);
    }
    return std::move(reports_);
  }

 private:
  void run_gates() {
    const std::vector<float> x = sample_activations(weights_.shape, context_.seed);
    const RawTensor f32{"x of " + weights_.name, "f32", weights_.shape,
                        std::as_bytes(std::span(x))};
    Dataset file(context_, fmt::format("file, seed {}", context_.seed), weights_,
                 activation_format_, activation_format_.quantise(f32));
    for (const ProducerSpec* producer : producers_) verify_plane(*producer, f32, file);
    verify_consumers(file);
    if (selection_.dispatch) {
      stage("dispatch", blank("dispatch", ""));
      finish(within_memory([&] { return dispatch_gate(context_, file, selection_.switches); }));
    }
  }

  /// The gate that was at work failed; what other consumers have of their parity is shown skipped.
  void keep_what_there_is(const DeviceLost& loss) {
    GateReport red = lost(std::move(current_), loss.what());
    if (red.gate == "parity") red.parts = taken_parts(red.subject);
    red.notes.push_back("the run stops here: nothing after this gate was verified");
    finish(std::move(red));
    for (const ConsumerSpec* consumer : consumers_) {
      GateReport report = parity_report(*consumer);
      report.parts = taken_parts(consumer->name);
      if (report.parts.empty()) continue;
      finish(skipped(std::move(report), "the device was lost before it was done"));
    }
  }

  std::vector<GateReport> taken_parts(const std::string& consumer) {
    return std::exchange(parts_[consumer], {});
  }

  const FormatOracle& format(const std::string& name) const {
    const FormatOracle* found = context_.catalog.format(name);
    if (found == nullptr) throw ContractError("format", name, "not registered");
    return *found;
  }

  /// Consumers by name, then the planes that were named or that the consumers read.
  void select() {
    const bool planes_only = !selection_.planes.empty() && selection_.consumers.empty();
    for (const ConsumerSpec& consumer : context_.catalog.consumers()) {
      if (planes_only || consumer.format != weights_.format) continue;
      if (chosen(selection_.consumers, consumer.name)) consumers_.push_back(&consumer);
    }
    const auto wanted = [&](const Contract* plane) {
      return std::any_of(consumers_.begin(), consumers_.end(),
                         [&](const ConsumerSpec* consumer) { return reads(*consumer, *plane); });
    };
    const bool everything = selection_.planes.empty() && selection_.consumers.empty();
    for (const ProducerSpec& producer : context_.catalog.producers()) {
      const bool ours =
          producer.plane->format == weights_.format || producer.plane->role == Role::kActivations;
      const bool named =
          !selection_.planes.empty() && chosen(selection_.planes, producer.plane->name);
      if (ours && (everything || named || wanted(producer.plane))) producers_.push_back(&producer);
    }
  }

  GateReport blank(const std::string& gate, const std::string& subject) const {
    return started(context_, gate, subject, weights_.name, weights_.shape);
  }

  /// What comes next and the report that it belongs to.
  void stage(const std::string& what, GateReport report) {
    started_ = Clock::now();
    current_ = std::move(report);
    if (on_stage_) on_stage_(weights_.name + ": " + what);
  }

  /// What `gate` reports; the stage's report, skipped, where the device has no memory for it.
  template <class Gate>
  GateReport within_memory(Gate gate) const {
    try {
      return gate();
    } catch (const DeviceOutOfMemory& error) {
      return skipped(current_, error.what());
    }
  }

  const GateReport& finish(GateReport report) {
    report.seconds += std::chrono::duration<double>(Clock::now() - started_).count();
    reports_.push_back(std::move(report));
    if (on_report_) on_report_(reports_.back());
    return reports_.back();
  }

  bool scales_are_finite() {
    stage("scales", blank("scales", weights_.format));
    const auto found = weight_format_.first_non_finite(weights_);
    if (!found) return true;
    GateReport report = current_;
    report.verdict = Verdict::kFail;
    report.data = "file";
    report.difference.first = fmt::format("row {}, super-block {}", found->line, found->block);
    report.diagnosis = fmt::format(
        "the file holds a scale that is not finite (f16 0x{:04x}) at row {}, super-block {}: no "
        "gate computes with it",
        found->f16_bits, found->line, found->block);
    finish(std::move(report));
    return false;
  }

  void verify_plane(const ProducerSpec& producer, const RawTensor& f32, Dataset& file) {
    const Contract& contract = *producer.plane;
    const std::string subject = subject_of(contract);
    stage("mirror " + contract.name, blank("mirror", subject));
    const RawTensor& source = contract.role == Role::kWeights ? weights_ : f32;
    PlaneUnderTest plane =
        mirror_gate(context_, producer, weights_.name, source, file.mirror(contract));
    finish(plane.report);
    stage("readback " + contract.name, blank("readback", subject));
    finish(within_memory([&] { return readback_gate(context_, plane, weights_.name, file); }));
    for (const DeviceProducerSpec& maker : context_.catalog.device_producers()) {
      if (maker.plane != &contract || maker.on(context_.device.kind()) == nullptr) continue;
      stage("made " + contract.name, blank("made", subject));
      finish(within_memory(
          [&] { return made_gate(context_, maker, weights_.name, plane.mirror.bytes(), file); }));
    }
    produced_.emplace_back(&contract, std::move(plane.produced));
  }

  void verify_consumers(Dataset& file) {
    std::vector<const ConsumerSpec*> runnable;
    for (const ConsumerSpec* consumer : consumers_) {
      if (const std::string why = refusal(*consumer); !why.empty()) {
        stage("parity " + consumer->name, parity_report(*consumer));
        current_.refused = true;
        finish(skipped(current_, why));
      } else {
        runnable.push_back(consumer);
      }
    }
    if (runnable.empty()) return;
    for (const Lattice& chosen_lattice : lattices(weights_.shape)) {
      Dataset dataset = make_dataset(context_, weights_.shape, chosen_lattice, weight_format_,
                                     activation_format_);
      for (const ConsumerSpec* consumer : runnable) {
        stage(fmt::format("lattice of {} {}", chosen_lattice.name, consumer->name),
              parity_report(*consumer));
        add_part(*consumer, "lattice", [&] { return lattice(context_, *consumer, dataset); });
      }
    }
    Twin twin(context_, file);
    for (const ConsumerSpec* consumer : runnable) finish_consumer(*consumer, file, twin);
  }

  /// Runs a part of the stage's parity.
  template <class Part>
  void add_part(const ConsumerSpec& consumer, const char* name, Part part) {
    GateReport report = within_memory(part);
    if (report.gate == "parity") report.gate = name;
    parts_[consumer.name].push_back(timed(std::move(report)));
  }

  void finish_consumer(const ConsumerSpec& consumer, Dataset& file, Twin& twin) {
    stage("bound and independence " + consumer.name, parity_report(consumer));
    std::optional<ConsumerRun> first;
    add_part(consumer, "bound", [&] {
      file.ensure_planes(consumer);
      first = gates::run(context_, consumer, file);
      return bound(context_, consumer, file, *first);
    });
    if (first) {
      add_part(consumer, "independence",
               [&] { return independence(context_, consumer, file, twin, *first); });
    }
    if (wants_addresses(parts_[consumer.name])) {
      stage("addresses " + consumer.name, parity_report(consumer));
      add_part(consumer, "addresses",
               [&] { return addresses(context_, consumer, weights_.name, weights_.shape); });
    }
    GateReport report = parity_report(consumer);
    report.parts = taken_parts(consumer.name);
    for (const GateReport& part : report.parts) report.seconds += part.seconds;
    finish(folded_parity(std::move(report)));
    finish_chain(consumer, file, first);
  }

  bool wants_addresses(const std::vector<GateReport>& parts) const {
    const bool small = weights_.shape.od() * weights_.shape.id() <= kAddressElems;
    const bool red = std::any_of(parts.begin(), parts.end(), [](const GateReport& part) {
      return part.verdict == Verdict::kFail;
    });
    switch (selection_.addresses) {
      case Addresses::kAlways:
        return true;
      case Addresses::kNever:
        return false;
      case Addresses::kSmall:
        return small || red;
    }
    return red;
  }

  /// @pre `first` is there when the consumer's parity passed.
  void finish_chain(const ConsumerSpec& consumer, Dataset& file,
                    const std::optional<ConsumerRun>& first) {
    stage("chain " + consumer.name, blank("chain", consumer.name));
    current_.repeat = parity_report(consumer).repeat;
    if (const std::string red = red_gate(consumer); !red.empty()) {
      finish(skipped(current_, red + " is not green"));
      return;
    }
    GateReport report = within_memory([&] { return chain_of(consumer, file, *first); });
    report.repeat = current_.repeat;
    finish(std::move(report));
  }

  GateReport chain_of(const ConsumerSpec& consumer, Dataset& file, const ConsumerRun& first) {
    Dataset produced(context_, file.text(), weights_, activation_format_,
                     {file.activations().bytes.begin(), file.activations().bytes.end()});
    for (const auto& [contract, bytes] : produced_) {
      if (!reads(consumer, *contract)) continue;
      produced.store().add(produced.tensor_of(*contract), *contract, weights_.shape, bytes.bytes());
    }
    return chain(context_, consumer, produced, first);
  }

  /// The first gate before `consumer`'s chain, its planes' included, that did not pass; empty if
  /// all did.
  std::string red_gate(const ConsumerSpec& consumer) const {
    std::vector<std::string> subjects = {consumer.name};
    for (const FieldUse& use : consumer.reads) subjects.push_back(subject_of(*use.plane));
    for (const GateReport& report : reports_) {
      if (std::find(subjects.begin(), subjects.end(), report.subject) == subjects.end()) continue;
      if (report.verdict != Verdict::kPass) return report.gate + " of " + report.subject;
    }
    return {};
  }

  std::string refusal(const ConsumerSpec& consumer) const {
    if (auto nowhere = context_.device.refusal(consumer)) return *nowhere;
    const auto broken = consumer.refusal(weights_.shape);
    return broken ? "needs " + *broken : "";
  }

  GateReport parity_report(const ConsumerSpec& consumer) const {
    GateReport report = blank("parity", consumer.name);
    report.unit = "elements";
    report.repeat = context_.repeat(weights_.name, "--consumer " + consumer.name);
    return report;
  }

  GateReport timed(GateReport part) {
    part.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    started_ = Clock::now();
    return part;
  }

  Context& context_;
  const RawTensor& weights_;
  const Selection& selection_;
  const OnReport& on_report_;
  const OnStage& on_stage_;
  const FormatOracle& weight_format_;
  const FormatOracle& activation_format_;
  std::vector<const ProducerSpec*> producers_;
  std::vector<const ConsumerSpec*> consumers_;
  std::vector<std::pair<const Contract*, SealedBytes>> produced_;
  std::vector<GateReport> reports_;
  /// Of each consumer's parity, until it is finished.
  std::map<std::string, std::vector<GateReport>> parts_;
  GateReport current_;
  Clock::time_point started_;
};

}  // namespace

std::vector<GateReport> verify_tensor(Context& context, const RawTensor& weights,
                                      const Selection& selection, const OnReport& on_report,
                                      const OnStage& on_stage) {
  return TensorRun(context, weights, selection, on_report, on_stage).run();
}

}  // namespace planegate::gates
