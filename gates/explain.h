#pragma once

#include <string>

#include <planegate/core/flat_layout.h>

#include "gates/tomography.h"

namespace planegate::gates {

/// `448` of whole bytes, `4b` else.
std::string bits_text(int64_t bits);
/// `k/1 mod 64`
std::string digit_text(const FlatLayout::Term& term);

/// Begins what is said of a map that no terms explain.
inline constexpr const char* kNoStridedMap = "no strided map";

/// What a tomogram says beside the contract of its plane.
struct Explanation {
  int64_t compared = 0;  ///< bytes of values whose address was recovered
  int64_t differing = 0;
  std::string first;  ///< `codes of row 1, k 0: read at byte 448, contract 512`
  /// `row stride 448, contract 512 (id); it is the row stride of plane padded (nsb*224)`, or
  /// `no strided map: ...`. Empty where nothing differs.
  std::string sentence;
  bool explained = false;  ///< sentence names terms
  /// Modes whose digit no probe changes, because the shape reaches one value of it only: their
  /// strides cannot be seen.
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
