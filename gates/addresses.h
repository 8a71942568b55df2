#pragma once

#include <string>

#include "gates/tomography.h"

namespace planegate::gates {

/// What a tomogram says beside the contract of its plane.
struct Explanation {
  int64_t compared = 0;  ///< bytes of values whose address was recovered
  int64_t differing = 0;
  std::string first;  ///< `codes of row 1, k 0: read at byte 448, contract 512`
  /// `row stride 448, contract 512 (id); it is the row stride of plane padded (nsb*224)`, or
  /// `no strided map: ...`. Empty where nothing differs.
  std::string sentence;
  /// Modes that this shape has once only: their strides cannot be seen.
  std::string undetermined;
};

/// Compares a map with its contract, term by term: the strides along the digits of the contract, or
/// of the first registered contract of the same role whose digits explain all observations.
Explanation explain(const Tomogram& tomogram, const Catalog& catalog);

/// Elements of a tensor up to which verify probes addresses unasked.
inline constexpr int64_t kAddressElems = int64_t{1} << 18;

/// The fourth part of parity: the address that `consumer` reads for each (line, k) of every plane,
/// against its contract.
[[nodiscard]] GateReport addresses(Context& context, const ConsumerSpec& consumer,
                                   const std::string& tensor, const Shape& shape);

}  // namespace planegate::gates
