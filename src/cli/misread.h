#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <planegate/core/contract.h>

namespace planegate::cli {

/// One digit that numbers the pages of a plane, and how far a step of it moves the address.
///
/// The outermost mode of each axis numbers pages: rows and super-blocks in w_exp, token tiles and
/// chunks in qa8.
struct PageDigit {
  const Mode* mode = nullptr;
  int64_t count = 1;          ///< steps + 1 at this shape: where it is 1, the stride cannot show
  Size right_bits;            ///< in the plane
  std::optional<Size> wrong;  ///< in bits, by the other plane; nullopt: not the same for every step
  int64_t drift_bytes = 0;    ///< right - wrong; 0 where wrong is nullopt
};

/// A plane read by an address expression that takes the pages of another plane.
///
/// The wrong address of a value = where `beside` keeps the first value of its page, plus the
/// value's place inside the page of `plane`. For w_exp beside padded that is
/// row*(nsb*224) + sb*224 + e. Both addresses are of one field of each plane: the first of `plane`
/// that `beside` has as well, else the first of each.
class Misread {
 public:
  struct Value {
    int64_t line = 0;
    int64_t k = 0;
  };

  /// @pre plane.role == beside.role. @throws ContractError where a plane does not fit the shape.
  Misread(const Contract& plane, const Contract& beside, const Shape& shape);

  const Field& field() const { return *fields_.first; }
  const Field& field_beside() const { return *fields_.second; }
  /// From the line's axis to k; an axis that the field has no mode for has no pages.
  const std::vector<PageDigit>& digits() const { return digits_; }
  /// Every step of every page digit moves the wrong address by one and the same amount.
  bool linear() const;

  int64_t right_bytes(const Value& at) const;
  /// May lie outside of the plane.
  int64_t wrong_bytes(const Value& at) const;
  /// The first (line, k), lines first, whose two addresses differ.
  /// @post all values before it agree (tests/explain_test.cpp walks them).
  std::optional<Value> first_difference() const;
  /// The last byte that is read, by all fields of the plane that have the pages of field().
  /// @pre linear(): the last pages are the highest
  /// @post no wrong address lies above it, one reaches it (tests/explain_test.cpp walks them).
  int64_t highest_wrong_byte() const;

 private:
  int64_t step(Axis axis) const;
  int64_t lines() const;
  Value page_of(const Value& at) const;
  int64_t wrong_page_bytes(const Value& page) const;
  int64_t highest_of_page(const Field& other, const Value& page) const;
  PageDigit page_digit(const Mode& mode) const;
  std::optional<Value> first_by_walking() const;

  const Contract& plane_;
  Shape shape_;
  Axis line_axis_;
  std::pair<const Field*, const Field*> fields_;
  BoundLayout bound_, bound_beside_;
  std::vector<PageDigit> digits_;
};

/// The fields that both planes have, by name.
std::vector<std::pair<const Field*, const Field*>> shared_fields(const Contract& plane,
                                                                 const Contract& beside);

/// The outermost mode over `axis`; null where the layout has none.
const Mode* page_mode(const Layout& layout, Axis axis);

/// Only the modes that number pages.
Layout pages(const Layout& layout);

}  // namespace planegate::cli
