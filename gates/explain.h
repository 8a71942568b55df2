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
  bool explained = false;  ///< sentence names terms
  /// Modes that this shape has once only: their strides cannot be seen.
  std::string undetermined;
};

/// Compares a map with its contract, term by term. The first of these that explains all
/// observations is named: other strides along the digits of the contract; one digit with another
/// div or mod; strides without the contract's swizzle; strides along the digits of another
/// registered plane of the same role. Where both of the first two explain the map, the one with
/// fewer changes comes first and the other is said too. Addresses that leave the plane are unseen:
/// they contradict nothing.
Explanation explain(const Tomogram& tomogram, const Catalog& catalog);

}  // namespace planegate::gates
