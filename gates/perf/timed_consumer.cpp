#include "gates/perf/timed_consumer.h"

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/store/dispatch.h>

#include "gates/compare.h"
#include "gates/parity.h"

namespace planegate::perf {

/// One dataset with the buffers of its launches.
struct TimedConsumer::Target {
  Target(gates::Context& context, const ConsumerSpec& consumer, gates::Dataset& of)
      : dataset(of), launch(consumer.launch_on(context.device.kind())) {
    if (const auto nowhere = context.device.refusal(consumer)) {
      throw ContractError("consumer", consumer.name, *nowhere);
    }
    const Shape& shape = dataset.shape();
    if (const auto broken = consumer.refusal(shape)) {
      throw ContractError("shape", shape.text(), consumer.name + " needs " + *broken);
    }
    dataset.ensure_planes(consumer);
    request = planegate::request(consumer, dataset.store(), dataset.weights().name,
                                 dataset.activations().name, shape);
    y = context.device.allocate("timed y", shape.nt() * shape.od() * int64_t{sizeof(float)});
    stamps =
        context.device.allocate("timed stamps", consumer.blocks(shape) * int64_t{sizeof(Stamp)});
    if (consumer.workspace_bytes != nullptr && consumer.workspace_bytes(shape) > 0) {
      workspace = context.device.allocate("timed workspace", consumer.workspace_bytes(shape));
      request.workspace = &*workspace;
    }
    request.y = &*y;
    request.stamps = &*stamps;
  }

  gates::Dataset& dataset;
  LaunchFn launch;
  LaunchRequest request{Shape(1, 1), {}};
  std::optional<DeviceBuffer> y, stamps, workspace;
};

TimedConsumer::TimedConsumer(gates::Context& context, const ConsumerSpec& consumer,
                             std::vector<gates::Dataset*> datasets, int64_t launches)
    : context_(context), consumer_(consumer), launches_(launches) {
  require(launches >= 1, "launches", launches, "at least 1");
  for (gates::Dataset* dataset : datasets) {
    targets_.push_back(std::make_unique<Target>(context, consumer, *dataset));
  }
  require(!targets_.empty(), "datasets", 0, "at least 1");
  context_.device.synchronise();
}

TimedConsumer::~TimedConsumer() = default;

Sample TimedConsumer::run() {
  Device& device = context_.device;
  const auto begun = std::chrono::steady_clock::now();
  const double kernel_s = device.timed_s([&] {
    for (int64_t i = 0; i < launches_; ++i) {
      const Target& target = *targets_[next_++ % targets_.size()];
      target.launch(device, target.request);
    }
  });
  Sample sample;
  sample.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (device.kind() == DeviceKind::kCuda) sample.kernel = kernel_s;
  return sample;
}

std::string TimedConsumer::verify_again() {
  Device& device = context_.device;
  for (const auto& target : targets_) {
    gates::Dataset& dataset = target->dataset;
    const gates::ConsumerRun verified = gates::run(context_, consumer_, dataset);
    const GateReport report = gates::bound(context_, consumer_, dataset, verified);
    if (report.verdict != Verdict::kPass) return text(report);
    device.fill(*target->y, gates::kUnwritten);
    target->launch(device, target->request);
    std::vector<float> timed(verified.y.size());
    device.read_back(*target->y, std::as_writable_bytes(std::span(timed)));
    device.synchronise();
    const Difference difference = gates::compare_bits(dataset.shape(), verified.y, timed);
    if (difference.count > 0 && consumer_.deterministic) {
      return fmt::format("{} after timing: {} elements of {} differ from a verified run, first: {}",
                         consumer_.name, difference.count, dataset.shape().text(),
                         difference.first);
    }
  }
  return "";
}

int64_t TimedConsumer::device_bytes() const {
  int64_t bytes = 0;
  for (const auto& target : targets_) {
    for (const BoundPlane& plane : target->request.planes) bytes += plane.buffer->size_bytes();
    if (target->workspace) bytes += target->workspace->size_bytes();
  }
  return bytes;
}

}  // namespace planegate::perf
