#include "gates/verify.h"

#include <algorithm>
#include <chrono>

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
    if (scales_are_finite()) {
      const std::vector<float> x = sample_activations(weights_.shape, context_.seed);
      const RawTensor f32{"x of " + weights_.name, "f32", weights_.shape,
                          std::as_bytes(std::span(x))};
      Dataset file(context_, fmt::format("file, seed {}", context_.seed), weights_,
                   activation_format_, activation_format_.quantise(f32));
      for (const ProducerSpec* producer : producers_) verify_plane(*producer, f32, file);
      verify_consumers(file);
      if (selection_.dispatch) {
        stage("dispatch");
        finish(dispatch_gate(context_, file, selection_.switches));
      }
    }
    return std::move(reports_);
  }

 private:
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
    const auto read = [&](const Contract* plane) {
      return std::any_of(consumers_.begin(), consumers_.end(), [&](const ConsumerSpec* consumer) {
        return std::any_of(consumer->reads.begin(), consumer->reads.end(),
                           [&](const FieldUse& use) { return use.plane == plane; });
      });
    };
    const bool everything = selection_.planes.empty() && selection_.consumers.empty();
    for (const ProducerSpec& producer : context_.catalog.producers()) {
      const bool ours =
          producer.plane->format == weights_.format || producer.plane->role == Role::kActivations;
      const bool named =
          !selection_.planes.empty() && chosen(selection_.planes, producer.plane->name);
      if (ours && (everything || named || read(producer.plane))) producers_.push_back(&producer);
    }
  }

  void stage(const std::string& what) {
    started_ = Clock::now();
    if (on_stage_) on_stage_(weights_.name + ": " + what);
  }

  const GateReport& finish(GateReport report) {
    report.seconds += std::chrono::duration<double>(Clock::now() - started_).count();
    reports_.push_back(std::move(report));
    if (on_report_) on_report_(reports_.back());
    return reports_.back();
  }

  bool scales_are_finite() {
    stage("scales");
    const auto found = weight_format_.first_non_finite(weights_);
    if (!found) return true;
    GateReport report = started(context_, "scales", weights_.format, weights_.name, weights_.shape);
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
    stage("mirror " + contract.name);
    const RawTensor& source = contract.role == Role::kWeights ? weights_ : f32;
    PlaneUnderTest plane =
        mirror_gate(context_, producer, weights_.name, source, file.mirror(contract));
    finish(plane.report);
    stage("readback " + contract.name);
    finish(readback_gate(context_, plane, weights_.name, file));
    produced_.emplace_back(&contract, std::move(plane.produced));
  }

  void verify_consumers(Dataset& file) {
    std::vector<std::vector<GateReport>> parts(consumers_.size());
    std::vector<const ConsumerSpec*> runnable;
    for (const ConsumerSpec* consumer : consumers_) {
      if (const std::string why = refusal(*consumer); !why.empty()) {
        stage("parity " + consumer->name);
        GateReport report = parity_report(*consumer);
        report.refused = true;
        finish(skipped(std::move(report), why));
      } else {
        runnable.push_back(consumer);
      }
    }
    if (runnable.empty()) return;
    for (const Lattice& chosen_lattice : lattices(weights_.shape)) {
      Dataset dataset = make_dataset(context_, weights_.shape, chosen_lattice, weight_format_,
                                     activation_format_);
      for (size_t i = 0; i < runnable.size(); ++i) {
        stage(fmt::format("lattice of {} {}", chosen_lattice.name, runnable[i]->name));
        parts[i].push_back(timed(lattice(context_, *runnable[i], dataset)));
      }
    }
    Twin twin(context_, file);
    for (size_t i = 0; i < runnable.size(); ++i) {
      finish_consumer(*runnable[i], file, twin, parts[i]);
    }
  }

  void finish_consumer(const ConsumerSpec& consumer, Dataset& file, Twin& twin,
                       std::vector<GateReport>& parts) {
    stage("bound and independence " + consumer.name);
    const ConsumerRun first = gates::run(context_, consumer, file);
    GateReport report = parity_report(consumer);
    report.parts = std::move(parts);
    report.parts.push_back(timed(bound(context_, consumer, file, first)));
    report.parts.push_back(timed(independence(context_, consumer, file, twin, first)));
    if (wants_addresses(report.parts)) {
      stage("addresses " + consumer.name);
      report.parts.push_back(timed(addresses(context_, consumer, weights_.name, weights_.shape)));
    }
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

  void finish_chain(const ConsumerSpec& consumer, Dataset& file, const ConsumerRun& first) {
    stage("chain " + consumer.name);
    GateReport blank = started(context_, "chain", consumer.name, weights_.name, weights_.shape);
    blank.repeat = parity_report(consumer).repeat;
    if (const std::string red = red_gate(consumer); !red.empty()) {
      finish(skipped(std::move(blank), red + " is not green"));
      return;
    }
    Dataset produced(context_, file.text(), weights_, activation_format_,
                     {file.activations().bytes.begin(), file.activations().bytes.end()});
    for (const auto& [contract, bytes] : produced_) {
      produced.store().add(produced.tensor_of(*contract), *contract, weights_.shape, bytes.bytes());
    }
    GateReport report = chain(context_, consumer, produced, first);
    report.repeat = blank.repeat;
    finish(std::move(report));
  }

  /// The first gate before `consumer`'s chain that did not pass; empty if all did.
  std::string red_gate(const ConsumerSpec& consumer) const {
    for (const GateReport& report : reports_) {
      const bool of_plane = report.gate == "mirror" || report.gate == "readback";
      if (!of_plane && report.subject != consumer.name) continue;
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
    GateReport report = started(context_, "parity", consumer.name, weights_.name, weights_.shape);
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
  Clock::time_point started_;
};

}  // namespace

std::vector<GateReport> verify_tensor(Context& context, const RawTensor& weights,
                                      const Selection& selection, const OnReport& on_report,
                                      const OnStage& on_stage) {
  return TensorRun(context, weights, selection, on_report, on_stage).run();
}

}  // namespace planegate::gates
