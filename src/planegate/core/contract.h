#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <planegate/core/layout.h>

namespace planegate {

/// What a tensor's lines are: rows of W, or tokens of X.
enum class Role : uint8_t { kWeights, kActivations };

/// How the bits of a value are read.
enum class Encoding : uint8_t { kUnsigned, kSigned, kF16, kF32 };

/// One kind of value in a plane: width, encoding, range and layout.
///
/// A value may serve several weights: of the modes over k the smallest `div` is that number.
struct Field {
  const char* name = "";
  int bits = 8;
  Encoding encoding = Encoding::kUnsigned;
  int64_t min = 0;  ///< smallest legal value (integers only)
  int64_t max = 0;  ///< largest legal value (integers only)
  Layout layout;
};

/// Weights (or activations) that one value of the field serves.
int64_t elems_per_value(const Field& field);

/// How many elements of a line, from a multiple of that number on, lie value after value without a
/// swizzle; 1 where none do.
constexpr int64_t contiguous_elems(const Field& field) {
  const Mode& inner = field.layout.modes[0];
  const bool dense = field.layout.n_modes > 0 && field.layout.swizzle.bits == 0 &&
                     inner.axis == Axis::kK && inner.div == 1 && !inner.outermost() &&
                     inner.stride_bits == Size{field.bits};
  return dense ? inner.extent.factor : 1;
}

/// The fields of a contract tag, as types.
template <class... F>
struct FieldList {};

/// A plane's contract for use at run time; the compile-time form is its tag type (formats/).
///
/// The tag has kFormat, kName, kRole, kAlignmentBytes, kPadValue, kBytes and Fields.
struct Contract {
  std::string format;  ///< `q6_K`
  std::string name;    ///< `w_exp`
  Role role = Role::kWeights;
  int64_t alignment_bytes = 1;
  int pad_value = 0;  ///< value of every byte that no field covers, tail lines included
  Size bytes;
  std::vector<Field> fields;

  /// Allocation size at `shape`. @throws ContractError when it does not fit.
  int64_t size_bytes(const Shape& shape) const { return evaluate(bytes, shape); }
  /// A fingerprint of all terms; equal contracts have equal hashes on every machine.
  uint64_t hash() const;
  /// One line a field: `codes 8b -32..31  row:id  sb:256  k:1`.
  std::string text() const;
};

/// The value that covers a byte: of which field, for which line and first element.
struct Coordinate {
  const Field* field = nullptr;
  int64_t line = 0;
  int64_t k = 0;
};

/// Which value a byte of the plane belongs to; nullopt for padding.
///
/// Where several sub-byte values share the byte, the one in its lowest bits.
/// @pre 0 <= offset_bytes < size_bytes(shape).
std::optional<Coordinate> locate(const Contract& contract, const Shape& shape,
                                 int64_t offset_bytes);

/// `row 35, super-block 1, element 7 (codes)`, `token 3, k 40 (d)`, `padding`.
std::string coordinate_text(const Contract& contract, const Shape& shape, int64_t offset_bytes);

namespace detail {
template <class... F>
std::vector<Field> fields_of(FieldList<F...>) {
  return {F::kField...};
}
template <class... F>
constexpr bool all_nest(FieldList<F...>) {
  return (nests(F::kField.layout, F::kField.bits) && ...);
}
template <class F, class... L>
constexpr bool contains(FieldList<L...>) {
  return (std::is_same_v<F, L> || ...);
}
}  // namespace detail

/// The run-time form of a contract tag.
template <class Tag>
const Contract& describe() {
  static_assert(detail::all_nest(typename Tag::Fields{}), "a field's layout does not nest");
  static const Contract contract{Tag::kFormat,
                                 Tag::kName,
                                 Tag::kRole,
                                 Tag::kAlignmentBytes,
                                 Tag::kPadValue,
                                 Tag::kBytes,
                                 detail::fields_of(typename Tag::Fields{})};
  return contract;
}

}  // namespace planegate
