#include "cli/misread.h"

#include <algorithm>

namespace planegate::cli {
namespace {

/// The modes of one axis, from the smallest div on.
std::vector<const Mode*> digits_of(const Layout& layout, Axis axis) {
  std::vector<const Mode*> digits;
  for (int i = 0; i < layout.n_modes; ++i) {
    if (layout.modes[i].axis == axis) digits.push_back(&layout.modes[i]);
  }
  std::sort(digits.begin(), digits.end(),
            [](const Mode* a, const Mode* b) { return a->div < b->div; });
  return digits;
}

/// What `step` more of a coordinate that is a multiple of `step` moves the address by; nullopt
/// where that depends on the coordinate.
std::optional<Size> stride_of_steps(const Layout& layout, Axis axis, int64_t step) {
  const auto digits = digits_of(layout, axis);
  auto digit = digits.begin();
  const auto stays_zero = [&] {
    return !(*digit)->outermost() && step % ((*digit)->div * (*digit)->extent.factor) == 0;
  };
  while (digit != digits.end() && stays_zero()) ++digit;
  if (digit == digits.end()) return Size{0};
  if (step % (*digit)->div != 0) return std::nullopt;
  for (auto next = digit + 1; next != digits.end(); ++next) {
    const Mode& below = **(next - 1);
    if ((*next)->stride_bits != below.extent.factor * below.stride_bits) return std::nullopt;
  }
  return step / (*digit)->div * (*digit)->stride_bits;
}

bool untouched_by(const Swizzle& swizzle, int64_t stride_bits) {
  const int64_t span_bytes = int64_t{1} << (swizzle.bits + swizzle.base + swizzle.shift);
  return swizzle.bits == 0 || stride_bits % (8 * span_bytes) == 0;
}

int64_t offset_bytes(const Layout& layout, const BoundLayout& bound, const Misread::Value& at) {
  return offset_bits(layout, bound, at.line, at.k) / 8;
}

std::pair<const Field*, const Field*> compared_fields(const Contract& plane,
                                                      const Contract& beside) {
  const auto shared = shared_fields(plane, beside);
  return shared.empty() ? std::pair{&plane.fields.front(), &beside.fields.front()} : shared.front();
}

}  // namespace

const Mode* page_mode(const Layout& layout, Axis axis) {
  const auto digits = digits_of(layout, axis);
  return digits.empty() ? nullptr : digits.back();
}

Layout pages(const Layout& layout) {
  Layout only;
  for (int i = 0; i < layout.n_modes; ++i) {
    if (layout.modes[i].outermost()) only.modes[only.n_modes++] = layout.modes[i];
  }
  return only;
}

std::vector<std::pair<const Field*, const Field*>> shared_fields(const Contract& plane,
                                                                 const Contract& beside) {
  std::vector<std::pair<const Field*, const Field*>> shared;
  for (const Field& field : plane.fields) {
    for (const Field& other : beside.fields) {
      if (std::string_view(field.name) == other.name) shared.emplace_back(&field, &other);
    }
  }
  return shared;
}

Misread::Misread(const Contract& plane, const Contract& beside, const Shape& shape)
    : plane_(plane),
      shape_(shape),
      line_axis_(plane.role == Role::kWeights ? Axis::kRow : Axis::kToken),
      fields_(compared_fields(plane, beside)),
      bound_(bind(field().layout, shape)),
      bound_beside_(bind(field_beside().layout, shape)) {
  for (const Axis axis : {line_axis_, Axis::kK}) {
    const Mode* mode = page_mode(field().layout, axis);
    if (mode != nullptr) digits_.push_back(page_digit(*mode));
  }
}

PageDigit Misread::page_digit(const Mode& mode) const {
  PageDigit digit{&mode, evaluate(mode.extent, shape_), mode.stride_bits, std::nullopt, 0};
  const Layout& beside = field_beside().layout;
  digit.wrong = stride_of_steps(beside, mode.axis, mode.div);
  if (!digit.wrong) return digit;
  const int64_t wrong_bits = evaluate(*digit.wrong, shape_);
  if (wrong_bits % 8 != 0 || !untouched_by(beside.swizzle, wrong_bits)) {
    digit.wrong.reset();
    return digit;
  }
  digit.drift_bytes = evaluate(digit.right_bits, shape_) / 8 - wrong_bits / 8;
  return digit;
}

bool Misread::linear() const {
  return std::all_of(digits_.begin(), digits_.end(),
                     [](const PageDigit& digit) { return digit.wrong.has_value(); });
}

int64_t Misread::step(Axis axis) const {
  const Mode* mode = page_mode(field().layout, axis);
  return mode == nullptr ? shape_.range(axis).extent : mode->div;
}

int64_t Misread::lines() const {
  return shape_.range(line_axis_).extent;
}

Misread::Value Misread::page_of(const Value& at) const {
  return {at.line - at.line % step(line_axis_), at.k - at.k % step(Axis::kK)};
}

int64_t Misread::right_bytes(const Value& at) const {
  return offset_bytes(field().layout, bound_, at);
}

int64_t Misread::wrong_page_bytes(const Value& page) const {
  const int64_t base_bits = field().layout.base_bits - field_beside().layout.base_bits;
  return offset_bytes(field_beside().layout, bound_beside_, page) + base_bits / 8;
}

int64_t Misread::wrong_bytes(const Value& at) const {
  const Value page = page_of(at);
  return wrong_page_bytes(page) + right_bytes(at) - right_bytes(page);
}

std::optional<Misread::Value> Misread::first_difference() const {
  if (!linear()) return first_by_walking();
  const auto differs = [&](Axis axis) {
    return std::any_of(digits_.begin(), digits_.end(), [&](const PageDigit& digit) {
      return digit.mode->axis == axis && digit.count > 1 && digit.drift_bytes != 0;
    });
  };
  if (differs(Axis::kK)) return Value{0, step(Axis::kK)};
  if (differs(line_axis_)) return Value{step(line_axis_), 0};
  return std::nullopt;
}

std::optional<Misread::Value> Misread::first_by_walking() const {
  for (Value at; at.line < lines(); at.line += step(line_axis_)) {
    for (at.k = 0; at.k < shape_.id(); at.k += step(Axis::kK)) {
      if (right_bytes(at) != wrong_bytes(at)) return at;
    }
  }
  return std::nullopt;
}

int64_t Misread::highest_of_page(const Field& other, const Value& page) const {
  const BoundLayout bound = bind(other.layout, shape_);
  const int64_t end_line = std::min(page.line + step(line_axis_), lines());
  const int64_t end_k = std::min(page.k + step(Axis::kK), shape_.id());
  int64_t highest = 0;
  for (Value at{page.line, 0}; at.line < end_line; ++at.line) {
    for (at.k = page.k; at.k < end_k; ++at.k) {
      highest = std::max(highest, offset_bytes(other.layout, bound, at));
    }
  }
  const int64_t value_bytes = (other.bits + 7) / 8;
  return wrong_page_bytes(page) + highest - right_bytes(page) + value_bytes - 1;
}

int64_t Misread::highest_wrong_byte() const {
  // The last page of lines may be cut off, the one before it is whole.
  const Value last = page_of({lines() - 1, shape_.id() - 1});
  const Value before{std::max<int64_t>(last.line - step(line_axis_), 0), last.k};
  int64_t highest = 0;
  for (const Field& other : plane_.fields) {
    if (!compare(pages(field().layout), pages(other.layout)).empty()) continue;
    for (const Value& page : {before, last}) {
      highest = std::max(highest, highest_of_page(other, page));
    }
  }
  return highest;
}

}  // namespace planegate::cli
