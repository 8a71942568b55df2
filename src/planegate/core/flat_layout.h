#pragma once

#include <planegate/core/layout.h>

namespace planegate {

/// A layout as data: digits and strides of one shape, each of which may be changed alone. What a
/// mutated address expression is made of; kernels take it by value.
struct FlatLayout {
  struct Term {
    Axis axis = Axis::kK;
    int64_t div = 1;
    int64_t mod = 0;  ///< 0: the outermost digit of its axis, no modulo
    int64_t stride_bits = 0;
  };

  int64_t base_bits = 0;
  int n_terms = 0;
  Term terms[Layout::kMaxModes] = {};
  Swizzle swizzle = {};

  /// Bit offset of the value of line `line` (row or token) at element `k`.
  constexpr int64_t offset_bits(int64_t line, int64_t k) const {
    int64_t bits = base_bits;
    for (int i = 0; i < n_terms; ++i) {
      const Term& term = terms[i];
      const int64_t digit = (term.axis == Axis::kK ? k : line) / term.div;
      bits += (term.mod == 0 ? digit : digit % term.mod) * term.stride_bits;
    }
    return swizzle.bits == 0 ? bits : swizzle.apply(bits >> 3) * 8 + (bits & 7);
  }
};

/// @post flatten(layout, shape).offset_bits(line, k) == offset_bits(layout, bind(layout, shape),
/// line, k) for all coordinates (tests/layout_test.cpp).
/// @throws ContractError on overflow.
FlatLayout flatten(const Layout& layout, const Shape& shape);

}  // namespace planegate
