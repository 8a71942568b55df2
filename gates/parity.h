#pragma once

#include "gates/consumer_run.h"

namespace planegate::gates {

/// The parts of the parity gate. Each judges `consumer` on trusted planes (the mirrors' bytes) and
/// can be asked for alone (addresses: addresses.h); folded() joins them. `first` is a run on the
/// file's data that bound and independence share.

/// Bit equality on synthetic inputs in which every partial sum is exact. This part decides.
[[nodiscard]] GateReport lattice(Context& context, const ConsumerSpec& consumer, Dataset& dataset);

/// The file's data: every element within its own a-priori bound. Guards real scales.
[[nodiscard]] GateReport bound(Context& context, const ConsumerSpec& consumer, Dataset& file,
                               const ConsumerRun& first);

/// A plain repeat, other guard bytes, other lane and warp orders (host), eight repeats (cuda, where
/// the part is called repeatability): bit-identical outputs. A consumer that is not deterministic
/// must stay within the bound each time.
[[nodiscard]] GateReport independence(Context& context, const ConsumerSpec& consumer, Dataset& file,
                                      const ConsumerRun& first);

/// The producers' own bytes end to end: bit-identical to `first`, which ran on the mirrors' bytes
/// (within the bound where the consumer is not deterministic). `produced` holds the planes as the
/// producers wrote them.
[[nodiscard]] GateReport chain(Context& context, const ConsumerSpec& consumer, Dataset& produced,
                               const ConsumerRun& first);

}  // namespace planegate::gates
