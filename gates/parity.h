#pragma once

#include "gates/consumer_run.h"

namespace planegate::gates {

/// The parts of the parity gate. Each judges `consumer` on trusted planes (the mirrors' bytes) and
/// can be asked for alone (addresses: addresses.h); folded() joins them. `first` is a run on the
/// file's data that bound and independence share.

/// Bit equality on synthetic inputs in which every partial sum is exact. This part decides.
[[nodiscard]] GateReport lattice(Context& context, const ConsumerSpec& consumer, Dataset& dataset,
                                 std::byte guard_fill = kGuardFill);

/// The file's data: every element within its own a-priori bound. Guards real scales.
[[nodiscard]] GateReport bound(Context& context, const ConsumerSpec& consumer, Dataset& file,
                               const ConsumerRun& first);

/// The data of another dataset in planes that differ in every byte that must not matter.
class Twin {
 public:
  /// Guard zones hold `guard_fill`, bytes that no field covers `pad_fill`. A view of file's
  /// weights, which must outlive it.
  Twin(Context& context, const Dataset& file, std::byte guard_fill = std::byte{0x5A},
       std::byte pad_fill = std::byte{0xA5});

  const Dataset& dataset() const { return dataset_; }
  std::byte guard_fill() const { return guard_fill_; }
  /// Uploads the planes of `consumer` that are not there yet.
  void ensure_planes(const ConsumerSpec& consumer);

 private:
  Context& context_;
  Dataset dataset_;
  std::byte guard_fill_, pad_fill_;
};

/// A plain repeat, other pad and guard bytes, other lane and warp orders (host); eight repeats,
/// half of them with other pad and guard bytes, half beside another kernel (cuda, where the part is
/// called repeatability): bit-identical outputs. A consumer that is not deterministic must stay
/// within the bound each time.
[[nodiscard]] GateReport independence(Context& context, const ConsumerSpec& consumer, Dataset& file,
                                      const ConsumerRun& first);
/// The same with a twin of `file` that several consumers share.
[[nodiscard]] GateReport independence(Context& context, const ConsumerSpec& consumer, Dataset& file,
                                      Twin& twin, const ConsumerRun& first);

/// The producers' own bytes end to end: bit-identical to `first`, which ran on the mirrors' bytes
/// (within the bound where the consumer is not deterministic). `produced` holds the planes as the
/// producers wrote them.
[[nodiscard]] GateReport chain(Context& context, const ConsumerSpec& consumer, Dataset& produced,
                               const ConsumerRun& first);

}  // namespace planegate::gates
