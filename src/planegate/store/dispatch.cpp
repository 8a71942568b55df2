#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planegate/core/errors.h>
#include <planegate/store/dispatch.h>

namespace planegate {
namespace {

const std::string& tensor_of(const Contract& plane, const std::string& weights,
                             const std::string& activations) {
  return plane.role == Role::kWeights ? weights : activations;
}

bool same_lines(const Contract& plane, const Shape& a, const Shape& b) {
  const Axis lines = plane.role == Role::kWeights ? Axis::kRow : Axis::kToken;
  return a.range(lines) == b.range(lines) && a.range(Axis::kK) == b.range(Axis::kK);
}

std::string absence(const Contract& plane, const std::string* why) {
  return fmt::format("plane {} is not registered{}", plane.name, why ? ": " + *why : "");
}

std::optional<std::string> plane_refusal(const Contract& plane, const std::string& tensor,
                                         const PlaneStore& store, const Shape& shape) {
  const StoredPlane* const stored = store.find(tensor, plane);
  if (stored == nullptr) return absence(plane, store.why_missing(tensor, plane));
  if (stored->contract->hash() != plane.hash()) {
    return fmt::format("plane {} is registered with another contract", plane.name);
  }
  if (!same_lines(plane, stored->shape, shape)) {
    if (stored->shape.text() == shape.text()) {
      return fmt::format("plane {} is registered for another shard", plane.name);
    }
    return fmt::format("plane {} is registered for {}", plane.name, stored->shape.text());
  }
  return std::nullopt;
}

std::optional<std::string> switched_off(const ConsumerSpec& consumer,
                                        const PlaneSwitches& switches) {
  for (const FieldUse& use : consumer.reads) {
    if (auto reason = switches.off(use.plane->name)) return reason;
  }
  return std::nullopt;
}

}  // namespace

std::string Choice::text() const {
  const std::string why =
      reasons.empty() ? "no consumer was offered" : fmt::format("{}", fmt::join(reasons, "; "));
  if (consumer == nullptr) return fmt::format("none ({})", why);
  if (path == Path::kOn) return "on: " + consumer->name;
  return fmt::format("{}: {} ({})", path == Path::kFallback ? "fallback" : "off by choice",
                     consumer->name, why);
}

std::optional<std::string> refusal(const ConsumerSpec& consumer, const PlaneStore& store,
                                   const std::string& weights, const std::string& activations,
                                   const Shape& shape) {
  const Device& device = store.device();
  if (auto nowhere = device.refusal(consumer)) return nowhere;
  if (const auto broken = consumer.refusal(shape)) return "needs " + *broken;
  for (const FieldUse& use : consumer.reads) {
    const std::string& tensor = tensor_of(*use.plane, weights, activations);
    if (auto reason = plane_refusal(*use.plane, tensor, store, shape)) return reason;
  }
  return std::nullopt;
}

Choice dispatch(const std::vector<const ConsumerSpec*>& preference, const PlaneStore& store,
                const std::string& weights, const std::string& activations, const Shape& shape,
                const PlaneSwitches& switches) {
  Choice choice;
  bool only_switches = true;
  for (const ConsumerSpec* consumer : preference) {
    auto reason = switched_off(*consumer, switches);
    if (!reason) {
      reason = refusal(*consumer, store, weights, activations, shape);
      only_switches = only_switches && !reason;
    }
    if (!reason) {
      choice.consumer = consumer;
      choice.path = choice.reasons.empty() ? Path::kOn
                    : only_switches        ? Path::kOffByChoice
                                           : Path::kFallback;
      return choice;
    }
    choice.reasons.push_back(fmt::format("{}: {}", consumer->name, *reason));
  }
  return choice;
}

LaunchRequest request(const ConsumerSpec& consumer, const PlaneStore& store,
                      const std::string& weights, const std::string& activations,
                      const Shape& shape) {
  if (const auto reason = refusal(consumer, store, weights, activations, shape)) {
    throw ContractError("consumer", consumer.name, *reason);
  }
  LaunchRequest launch{shape, {}, nullptr, nullptr};
  for (const FieldUse& use : consumer.reads) {
    const std::string& tensor = tensor_of(*use.plane, weights, activations);
    launch.planes.push_back(store.find(tensor, *use.plane)->bound());
  }
  return launch;
}

}  // namespace planegate
