#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gates/consumer_run.h"
#include "gates/perf/ab.h"

namespace planegate::perf {

/// One consumer on datasets whose planes stand on the device, launched as it was verified: stamps
/// on, same buffers each time.
class TimedConsumer {
 public:
  /// A sample launches on each of `datasets` in turn, `launches` of them: the tensors of a model,
  /// or copies of one tensor, enough of them that its weights do not stay in a cache.
  /// @pre the consumer takes all their shapes; launches >= 1; datasets outlive this.
  /// @throws ContractError, DeviceError.
  TimedConsumer(gates::Context& context, const ConsumerSpec& consumer,
                std::vector<gates::Dataset*> datasets, int64_t launches);
  ~TimedConsumer();

  /// Wall time by the host's clock; kernel time by the device's, where it has one.
  Sample run();

  /// Poisons the outputs, runs once more on each dataset and verifies: every element within its
  /// bound, liveness and guard zones, and the timed buffers bit-identical to that. Empty, or what
  /// is wrong.
  std::string verify_again();

  /// Of the planes that it reads of `datasets`, workspaces included.
  int64_t device_bytes() const;

 private:
  struct Target;

  gates::Context& context_;
  const ConsumerSpec& consumer_;
  std::vector<std::unique_ptr<Target>> targets_;
  int64_t launches_;
  size_t next_ = 0;
};

}  // namespace planegate::perf
