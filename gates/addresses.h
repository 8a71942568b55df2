#pragma once

#include "gates/explain.h"

namespace planegate::gates {

/// Elements of a tensor up to which verify probes addresses unasked.
inline constexpr int64_t kAddressElems = int64_t{1} << 18;

/// The fourth part of parity: the address that `consumer` reads for each (line, k) of every plane,
/// against its contract.
[[nodiscard]] GateReport addresses(Context& context, const ConsumerSpec& consumer,
                                   const std::string& tensor, const Shape& shape);

}  // namespace planegate::gates
