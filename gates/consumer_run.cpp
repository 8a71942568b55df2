#include "gates/consumer_run.h"

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

std::string breach(Device& device, const DeviceBuffer& buffer) {
  const auto guard = device.breached_guard(buffer);
  if (!guard) return {};
  return fmt::format("guard zone of {} overwritten at byte {} (size {}): holds {:02x}, was {:02x}",
                     buffer.name(), guard->offset_bytes, buffer.size_bytes(),
                     static_cast<unsigned>(guard->value),
                     static_cast<unsigned>(buffer.guard_fill()));
}

int64_t workspace_bytes(const ConsumerSpec& consumer, const Shape& shape) {
  return consumer.workspace_bytes == nullptr ? 0 : consumer.workspace_bytes(shape);
}

ConsumerRun run_or_throw(Context& context, const ConsumerSpec& consumer, LaunchRequest launch,
                         std::byte guard_fill) {
  Device& device = context.device;
  const Shape& shape = launch.shape;
  ConsumerRun result;
  result.y.resize(static_cast<size_t>(shape.nt() * shape.od()));
  std::vector<Stamp> stamps(static_cast<size_t>(consumer.blocks(shape)));
  const auto y_bytes = std::as_writable_bytes(std::span(result.y));
  const auto stamp_bytes = std::as_writable_bytes(std::span(stamps));
  const DeviceBuffer y = device.allocate("y", static_cast<int64_t>(y_bytes.size()), guard_fill);
  const DeviceBuffer stamp_buffer =
      device.allocate("stamps", static_cast<int64_t>(stamp_bytes.size()), guard_fill);
  device.fill(y, kUnwritten);
  device.fill(stamp_buffer, std::byte{0});
  std::optional<DeviceBuffer> workspace;
  if (const int64_t bytes = workspace_bytes(consumer, shape); bytes > 0) {
    workspace = device.allocate("workspace", bytes, guard_fill);
    device.fill(*workspace, kUnwritten);
    launch.workspace = &*workspace;
  }
  launch.y = &y;
  launch.stamps = &stamp_buffer;
  consumer.launch_on(device.kind())(device, launch);
  device.read_back(y, y_bytes);
  device.read_back(stamp_buffer, stamp_bytes);
  device.synchronise();

  result.failure = wrong_stamp(consumer, launch.planes.front(), stamps);
  std::vector<const DeviceBuffer*> buffers = {&y, &stamp_buffer};
  if (workspace) buffers.push_back(&*workspace);
  for (const BoundPlane& plane : launch.planes) buffers.push_back(plane.buffer);
  for (const DeviceBuffer* buffer : buffers) {
    if (result.failure.empty()) result.failure = breach(device, *buffer);
  }
  return result;
}

}  // namespace

ConsumerRun run(Context& context, const ConsumerSpec& consumer, const PlaneStore& store,
                const std::string& weights, const std::string& activations, const Shape& shape,
                std::byte guard_fill) {
  try {
    return run_or_throw(context, consumer, request(consumer, store, weights, activations, shape),
                        guard_fill);
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
}

ConsumerRun run(Context& context, const ConsumerSpec& consumer, const Dataset& dataset,
                std::byte guard_fill) {
  return run(context, consumer, dataset.store(), dataset.weights().name, dataset.activations().name,
             dataset.shape(), guard_fill);
}

}  // namespace planegate::gates
