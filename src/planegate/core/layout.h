#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <planegate/core/shape.h>

namespace planegate {

/// A named extent that a stride or size may be a multiple of. id is written as 256 * nsb.
enum class Symbol : uint8_t { kOne, kOd, kOdEven, kNsb, kNt, kTokenTiles };

/// factor * a * b, such as 256*nsb (= id) or od*(210*nsb). Exact for every shape.
struct Size {
  int64_t factor = 1;
  Symbol a = Symbol::kOne;
  Symbol b = Symbol::kOne;

  friend constexpr bool operator==(const Size&, const Size&) = default;
};

constexpr Size operator*(int64_t factor, Size size) {
  return {factor * size.factor, size.a, size.b};
}

namespace sizes {
inline constexpr Size kOne{1};
inline constexpr Size kOd{1, Symbol::kOd};
/// od rounded up to 2.
inline constexpr Size kOdEven{1, Symbol::kOdEven};
inline constexpr Size kNsb{1, Symbol::kNsb};
inline constexpr Size kNt{1, Symbol::kNt};
/// nt / 64, rounded up.
inline constexpr Size kTokenTiles{1, Symbol::kTokenTiles};
/// id = 256 * nsb.
inline constexpr Size kId{kSuperBlockElems, Symbol::kNsb};
/// Groups of 32 weights of a line: id / 32.
inline constexpr Size kChunks{kSuperBlockElems / 32, Symbol::kNsb};
}  // namespace sizes

inline constexpr int64_t kTokenTileTokens = 64;

/// a >= b whatever the shape.
constexpr bool covers(Symbol a, Symbol b) {
  return b == Symbol::kOne || a == b || (a == Symbol::kOdEven && b == Symbol::kOd);
}

/// a >= b for *every* shape: a's factor is no smaller and a has a symbol for each of b's.
constexpr bool covers(Size a, Size b) {
  const bool straight = covers(a.a, b.a) && covers(a.b, b.b);
  const bool crossed = covers(a.a, b.b) && covers(a.b, b.a);
  return a.factor >= b.factor && (straight || crossed);
}

/// The product of two sizes; more than two symbols do not fit and are a compile-time error.
constexpr Size product(Size x, Size y) {
  Symbol symbols[2] = {Symbol::kOne, Symbol::kOne};
  int used = 0;
  for (const Symbol s : {x.a, x.b, y.a, y.b}) {
    if (s != Symbol::kOne) symbols[used++] = s;
  }
  return {x.factor * y.factor, symbols[0], symbols[1]};
}

/// One digit of a coordinate and the stride it moves by.
///
/// digit = coordinate / div, taken modulo `extent` unless the mode is the outermost of its axis
/// (then its extent is symbolic and needs no modulo).
struct Mode {
  const char* name = "";
  Axis axis = Axis::kK;
  int64_t div = 1;
  Size extent;
  Size stride_bits;

  constexpr bool outermost() const { return extent.a != Symbol::kOne; }
};

/// XOR swizzle of byte offsets: the `bits` bits from `base + shift` are XORed onto those from
/// `base`. bits == 0 is the identity.
struct Swizzle {
  int bits = 0;
  int base = 0;
  int shift = 0;

  constexpr int64_t apply(int64_t offset_bytes) const {
    const int64_t mask = ((int64_t{1} << bits) - 1) << base;
    return offset_bytes ^ ((offset_bytes >> shift) & mask);
  }
  friend constexpr bool operator==(const Swizzle&, const Swizzle&) = default;
};

/// Where the value of (line, k) lies in a plane: a sum of strided modes, in bits.
///
/// Modes are listed from the innermost (smallest stride) to the outermost.
struct Layout {
  static constexpr int kMaxModes = 8;

  int64_t base_bits = 0;
  int n_modes = 0;
  Mode modes[kMaxModes] = {};
  Swizzle swizzle = {};
};

/// The modes over `axis` are the digits of its coordinate: from the smallest div on, each next div
/// is div * extent of the digit below, and the topmost digit alone is the outermost mode.
/// True for an axis without modes: one value then serves all its coordinates.
constexpr bool spells(const Layout& layout, Axis axis) {
  int digits = 0;
  int64_t div = 0;
  for (int i = 0; i < layout.n_modes; ++i) {
    if (layout.modes[i].axis != axis) continue;
    ++digits;
    if (div == 0 || layout.modes[i].div < div) div = layout.modes[i].div;
  }
  for (; digits > 0; --digits) {
    int digit = 0;
    while (digit < layout.n_modes &&
           (layout.modes[digit].axis != axis || layout.modes[digit].div != div)) {
      ++digit;
    }
    if (digit == layout.n_modes || layout.modes[digit].outermost() != (digits == 1)) return false;
    div *= layout.modes[digit].extent.factor;
  }
  return true;
}

/// Every axis is spelt by its modes, and in their listed order stride(i+1) covers
/// stride(i) * extent(i) while the first stride covers the value's own width. Hence no two
/// coordinates share a bit, whatever the shape.
/// @post injective for every shape (tests/layout_test.cpp walks small ones).
constexpr bool nests(const Layout& layout, int value_bits) {
  for (const Axis axis : {Axis::kRow, Axis::kK, Axis::kToken}) {
    if (!spells(layout, axis)) return false;
  }
  Size needed{value_bits};
  for (int i = 0; i < layout.n_modes; ++i) {
    if (!covers(layout.modes[i].stride_bits, needed)) return false;
    needed = product(layout.modes[i].stride_bits, layout.modes[i].extent);
  }
  return true;
}

/// A layout with the strides of one shape: the form that kernels receive. Offsets are in bits.
struct BoundLayout {
  int64_t stride_bits[Layout::kMaxModes] = {};
};

/// The value of `size` at `shape`. @throws ContractError when it does not fit into 2^62.
int64_t evaluate(Size size, const Shape& shape);

/// Strides of `layout` at `shape`. @throws ContractError on overflow.
BoundLayout bind(const Layout& layout, const Shape& shape);

/// Bit offset of the value of line `line` (row or token) at element `k`.
int64_t offset_bits(const Layout& layout, const BoundLayout& bound, int64_t line, int64_t k);

/// `id*64`, `nsb*210`, `4`; `in_bits` sizes divisible by 8 are given in bytes, others as `4b`.
std::string text(Size size);
std::string text_of_bits(Size size_bits);
/// From the outermost mode: `row:id  sb:256  k:1`.
std::string text(const Layout& layout);

/// One mode in which two layouts differ.
struct TermDifference {
  std::string mode;
  std::string left;   ///< stride in the left layout, `absent` where the mode is missing
  std::string right;  ///< the same of the right layout
};

/// Term by term: modes are matched by name; base and swizzle count as terms.
std::vector<TermDifference> compare(const Layout& left, const Layout& right);

}  // namespace planegate
