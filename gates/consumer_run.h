#pragma once

#include <string>
#include <vector>

#include "gates/dataset.h"

namespace planegate::gates {

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
                std::byte guard_fill = std::byte{0xA5});

/// The same on planes that stand in `store` under the tensors' names.
ConsumerRun run(Context& context, const ConsumerSpec& consumer, const PlaneStore& store,
                const std::string& weights, const std::string& activations, const Shape& shape,
                std::byte guard_fill = std::byte{0xA5});

}  // namespace planegate::gates
