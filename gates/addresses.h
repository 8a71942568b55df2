#pragma once

#include "gates/explain.h"

namespace planegate::gates {

/// Elements of a tensor up to which verify probes addresses unasked.
inline constexpr int64_t kAddressElems = int64_t{1} << 18;

/// The fourth part of parity: the address that `consumer` reads for each (line, k) of every plane,
/// against its contract.
///
/// Each operand is probed with one-hot data of the other, so that an operand that is read elsewhere
/// spoils both maps. The operand whose map can be explained is at fault; if both can, the output
/// alone cannot tell them apart, and both are named.
[[nodiscard]] GateReport addresses(Context& context, const ConsumerSpec& consumer,
                                   const std::string& tensor, const Shape& shape);

/// Folds the parts of parity, the last of which may be addresses. Where terms are named they say
/// more than the part that failed first; where addresses are wrong and no term explains them, both
/// are said.
[[nodiscard]] GateReport folded_parity(GateReport report);

}  // namespace planegate::gates
