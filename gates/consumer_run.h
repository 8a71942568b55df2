#pragma once

#include <span>
#include <string>
#include <vector>

#include "gates/dataset.h"

namespace planegate::gates {

inline constexpr std::byte kGuardFill{0xA5};

/// How one run of a consumer went.
struct ConsumerRun {
  std::vector<float> y;  ///< (nt, od), empty when the run failed
  /// Why it counts as failed whatever y holds: a fault of the execution model, a refused or failed
  /// launch, an overwritten guard zone, a stamp of something else. Empty: none.
  std::string failure;
};

/// Runs `consumer` on the planes of `dataset`: output poisoned before, stamps and the guard zones
/// of all buffers checked after.
/// @pre the consumer's planes are registered and its preconditions hold.
ConsumerRun run(Context& context, const ConsumerSpec& consumer, const Dataset& dataset,
                std::byte guard_fill = kGuardFill);

/// The same on planes that stand in `store` under the tensors' names.
ConsumerRun run(Context& context, const ConsumerSpec& consumer, const PlaneStore& store,
                const std::string& weights, const std::string& activations, const Shape& shape,
                std::byte guard_fill = kGuardFill);

/// `guard zone of y overwritten at byte 288 (size 280): holds 00, was a5`
std::string breach_text(const DeviceBuffer& buffer, const GuardBreach& breach);

/// One of several runs.
struct RunSetup {
  const Dataset* dataset = nullptr;
  std::byte guard_fill = kGuardFill;
};

/// Several runs, each as run() would make it, in their order.
struct ConsumerRuns {
  std::vector<ConsumerRun> runs;
  bool beside_all = true;  ///< with company: the other kernel ran beside every one of them
};

/// The same for several runs. On cuda they are queued together and read back at once, as far as
/// their outputs take kQueuedBytes; a guard zone that was overwritten is laid on the first run that
/// bound its buffer. `company`: beside another kernel of the device, where it has one.
ConsumerRuns run_all(Context& context, const ConsumerSpec& consumer,
                     std::span<const RunSetup> setups, bool company = false);

/// Outputs and workspaces that may stand on the device for one batch of runs.
inline constexpr int64_t kQueuedBytes = int64_t{64} << 20;

}  // namespace planegate::gates
