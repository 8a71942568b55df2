#include "gates/consumer_run.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <planegate/store/dispatch.h>

#include "gates/compare.h"

namespace planegate::gates {
namespace {

/// Empty when every block left the stamp of this consumer, plane and generation.
std::string wrong_stamp(const ConsumerSpec& consumer, const BoundPlane& codes,
                        const std::vector<Stamp>& stamps) {
  for (size_t block = 0; block < stamps.size(); ++block) {
    const Stamp want{consumer.instance(), codes.generation,
                     static_cast<uint32_t>(codes.contract->hash()),
                     static_cast<uint32_t>(block) + 1};
    const Stamp& have = stamps[block];
    if (have == want) continue;
    if (have == Stamp{}) {
      return fmt::format("liveness: block {} of {} left no stamp; the kernel did not run there",
                         block, stamps.size());
    }
    return fmt::format(
        "liveness: block {} stamped instance {:08x}, generation {}, contract {:08x}, block {}; "
        "{} on {} is {:08x}, {}, {:08x}, {}",
        block, have.instance, have.generation, have.contract, have.block, consumer.name,
        codes.contract->name, want.instance, want.generation, want.contract, want.block);
  }
  return {};
}

int64_t workspace_bytes(const ConsumerSpec& consumer, const Shape& shape) {
  return consumer.workspace_bytes == nullptr ? 0 : consumer.workspace_bytes(shape);
}

int64_t y_bytes(const Shape& shape) {
  return shape.nt() * shape.od() * int64_t{sizeof(float)};
}

/// One run: its buffers on the device and what comes back from them.
class Run {
 public:
  Run(Device& device, const ConsumerSpec& consumer, LaunchRequest launch, std::byte guard_fill)
      : consumer_(consumer),
        launch_(std::move(launch)),
        stamps_(static_cast<size_t>(consumer.blocks(launch_.shape))),
        y_buffer_(device.allocate("y", y_bytes(launch_.shape), guard_fill)),
        stamp_buffer_(device.allocate(
            "stamps", static_cast<int64_t>(stamps_.size() * sizeof(Stamp)), guard_fill)) {
    device.fill(y_buffer_, kUnwritten);
    device.fill(stamp_buffer_, std::byte{0});
    if (const int64_t bytes = workspace_bytes(consumer, launch_.shape); bytes > 0) {
      workspace_ = device.allocate("workspace", bytes, guard_fill);
      device.fill(*workspace_, kUnwritten);
      launch_.workspace = &*workspace_;
    }
    launch_.y = &y_buffer_;
    launch_.stamps = &stamp_buffer_;
    y_.resize(static_cast<size_t>(launch_.shape.nt() * launch_.shape.od()));
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void launch(Device& device) const { consumer_.launch_on(device.kind())(device, launch_); }

  void read_back(Device& device) {
    device.read_back(y_buffer_, std::as_writable_bytes(std::span(y_)));
    device.read_back(stamp_buffer_, std::as_writable_bytes(std::span(stamps_)));
  }

  /// Output, stamps, workspace, planes: in the order in which they are blamed.
  std::vector<const DeviceBuffer*> buffers() const {
    std::vector<const DeviceBuffer*> all = {&y_buffer_, &stamp_buffer_};
    if (workspace_) all.push_back(&*workspace_);
    for (const BoundPlane& plane : launch_.planes) all.push_back(plane.buffer);
    return all;
  }

  ConsumerRun result() {
    return {std::move(y_), wrong_stamp(consumer_, launch_.planes.front(), stamps_)};
  }

 private:
  const ConsumerSpec& consumer_;
  LaunchRequest launch_;
  std::vector<Stamp> stamps_;
  std::vector<float> y_;
  DeviceBuffer y_buffer_;
  DeviceBuffer stamp_buffer_;
  std::optional<DeviceBuffer> workspace_;
};

using Runs = std::vector<std::unique_ptr<Run>>;

/// Launches all, in order; with company, returns whether it ran beside all.
bool launch_all(Device& device, const Runs& runs, bool company) {
  if (company) device.start_company();
  try {
    for (const auto& run : runs) run->launch(device);
  } catch (...) {
    if (company) device.end_company();
    throw;
  }
  return !company || device.end_company();
}

ConsumerRuns run_or_throw(Device& device, Runs runs, bool company) {
  ConsumerRuns out;
  out.beside_all = launch_all(device, runs, company);
  for (const auto& run : runs) run->read_back(device);
  std::vector<const DeviceBuffer*> buffers;
  std::vector<size_t> run_of;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const DeviceBuffer* buffer : runs[i]->buffers()) {
      if (std::find(buffers.begin(), buffers.end(), buffer) != buffers.end()) continue;
      buffers.push_back(buffer);
      run_of.push_back(i);
    }
  }
  const auto breaches = device.breached_guards(buffers);
  for (const auto& run : runs) out.runs.push_back(run->result());
  for (size_t i = 0; i < breaches.size(); ++i) {
    std::string& failure = out.runs[run_of[i]].failure;
    if (breaches[i] && failure.empty()) failure = breach_text(*buffers[i], *breaches[i]);
  }
  return out;
}

/// What `work` returns, or `failed` of what it threw. Too little memory and a lost device are no
/// failure of the consumer: they go on.
template <class Work, class Failed>
auto or_failed(Work work, Failed failed) {
  try {
    return work();
  } catch (const DeviceOutOfMemory&) {
    throw;
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

/// Runs `setups` in one batch; what is thrown is the failure of each.
ConsumerRuns run_batch(Context& context, const ConsumerSpec& consumer,
                       std::span<const RunSetup> setups, bool company) {
  const auto work = [&] {
    Runs runs;
    for (const RunSetup& setup : setups) {
      const Dataset& data = *setup.dataset;
      runs.push_back(std::make_unique<Run>(context.device, consumer,
                                           request(consumer, data.store(), data.weights().name,
                                                   data.activations().name, data.shape()),
                                           setup.guard_fill));
    }
    return run_or_throw(context.device, std::move(runs), company);
  };
  return or_failed(work, [&](const char* why) {
    return ConsumerRuns{std::vector<ConsumerRun>(setups.size(), {{}, why}), true};
  });
}

/// How many runs of this shape are queued together.
size_t batch_size(const Device& device, const ConsumerSpec& consumer, const Shape& shape) {
  // The host executor gains nothing, and a fault there belongs to one run.
  if (device.kind() == DeviceKind::kHost) return 1;
  const int64_t bytes = y_bytes(shape) + workspace_bytes(consumer, shape);
  return static_cast<size_t>(std::max<int64_t>(1, kQueuedBytes / bytes));
}

}  // namespace

std::string breach_text(const DeviceBuffer& buffer, const GuardBreach& breach) {
  return fmt::format("guard zone of {} overwritten at byte {} (size {}): holds {:02x}, was {:02x}",
                     buffer.name(), breach.offset_bytes, buffer.size_bytes(),
                     static_cast<unsigned>(breach.value),
                     static_cast<unsigned>(buffer.guard_fill()));
}

ConsumerRun run(Context& context, const ConsumerSpec& consumer, const PlaneStore& store,
                const std::string& weights, const std::string& activations, const Shape& shape,
                std::byte guard_fill) {
  const auto work = [&] {
    Runs runs;
    runs.push_back(std::make_unique<Run>(context.device, consumer,
                                         request(consumer, store, weights, activations, shape),
                                         guard_fill));
    return std::move(run_or_throw(context.device, std::move(runs), false).runs.front());
  };
  return or_failed(work, [](const char* why) { return ConsumerRun{{}, why}; });
}

ConsumerRun run(Context& context, const ConsumerSpec& consumer, const Dataset& dataset,
                std::byte guard_fill) {
  return run(context, consumer, dataset.store(), dataset.weights().name, dataset.activations().name,
             dataset.shape(), guard_fill);
}

ConsumerRuns run_all(Context& context, const ConsumerSpec& consumer,
                     std::span<const RunSetup> setups, bool company) {
  ConsumerRuns all;
  for (size_t at = 0; at < setups.size();) {
    const size_t size = batch_size(context.device, consumer, setups[at].dataset->shape());
    const auto batch = setups.subspan(at, std::min(size, setups.size() - at));
    ConsumerRuns done = run_batch(context, consumer, batch, company);
    for (ConsumerRun& one : done.runs) all.runs.push_back(std::move(one));
    all.beside_all = all.beside_all && done.beside_all;
    at += batch.size();
  }
  return all;
}

}  // namespace planegate::gates
