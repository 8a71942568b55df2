#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/explain_texts.h"
#include "cli/misread.h"
#include "cli/misread_window.h"
#include "cli/table.h"

namespace planegate::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string field_cell(const Contract& plane, std::string_view name) {
  for (const Field& field : plane.fields) {
    if (name == field.name) return value_text(field) + "  " + text(field.layout);
  }
  return "-";
}

/// Names of the fields of both planes, those of the first before those of the second alone.
std::vector<std::string> field_names(const Contract& plane, const Contract& beside) {
  std::vector<std::string> names;
  for (const Contract* contract : {&plane, &beside}) {
    for (const Field& field : contract->fields) {
      if (std::find(names.begin(), names.end(), field.name) == names.end()) {
        names.emplace_back(field.name);
      }
    }
  }
  return names;
}

std::string side_by_side(const Contract& plane, const Contract& beside, const Shape& shape) {
  const auto row = [&](const std::string& what, const auto& cell) {
    return std::vector<std::string>{what, cell(plane), cell(beside)};
  };
  Rows rows = {
      row("", [](const Contract& c) { return c.format + "/" + c.name; }),
      row("size", [&](const Contract& c) { return size_text(c.bytes, shape) + " bytes"; }),
      row("alignment", [](const Contract& c) { return counted(c.alignment_bytes, "byte"); }),
      row("padding", [&](const Contract& c) { return padding_text(c, shape); })};
  for (const std::string& name : field_names(plane, beside)) {
    rows.push_back(row("field " + name, [&](const Contract& c) { return field_cell(c, name); }));
  }
  return table(rows);
}

/// The stride of the mode `name` in bytes; `-` where there is none (base and swizzle, too).
std::string stride_cell(const Layout& layout, const std::string& name, const Shape& shape) {
  for (int i = 0; i < layout.n_modes; ++i) {
    if (layout.modes[i].name == name) return bound_text(layout.modes[i].stride_bits, shape);
  }
  return "-";
}

void add_terms(Rows& rows, const std::string& field, const Layout& left, const Layout& right,
               const Shape& shape) {
  for (const TermDifference& term : compare(left, right)) {
    rows.push_back({field, term.mode, term.left, stride_cell(left, term.mode, shape), term.right,
                    stride_cell(right, term.mode, shape)});
  }
}

std::string differing_terms(const Contract& plane, const Contract& beside, const Misread& misread,
                            const Shape& shape) {
  Rows rows = {{"field", "term", plane.name, "in bytes", beside.name, "in bytes"}};
  std::string out;
  const auto shared = shared_fields(plane, beside);
  if (shared.empty()) {
    const std::string names =
        fmt::format("{}, {}", misread.field().name, misread.field_beside().name);
    out = fmt::format(
        "No field has the same name in both. Compared are the page strides (the "
        "outermost mode\nof each axis) of their first fields: {}.\n\n",
        names);
    add_terms(rows, names, pages(misread.field().layout), pages(misread.field_beside().layout),
              shape);
  } else {
    out = "Compared are the fields that both have, all terms.\n\n";
    for (const auto& [left, right] : shared) {
      add_terms(rows, left->name, left->layout, right->layout, shape);
    }
  }
  return out + (rows.size() == 1 ? "No term differs.\n" : table(rows));
}

bool same_symbols(Size x, Size y) {
  return (x.a == y.a && x.b == y.b) || (x.a == y.b && x.b == y.a);
}

/// `nsb*32 = 448`, `id - 8 = 504`, `32`.
std::string distance_text(const PageDigit& digit, const Shape& shape) {
  Size larger = digit.right_bits, smaller = *digit.wrong;
  if (digit.drift_bytes < 0) std::swap(larger, smaller);
  if (!same_symbols(larger, smaller)) {
    return fmt::format("{} - {} = {}", text_of_bits(larger), text_of_bits(smaller),
                       std::abs(digit.drift_bytes));
  }
  larger.factor = (larger.factor - smaller.factor) / 8;
  return size_text(larger, shape);
}

/// `not constant: qa8 splits token into tile, token`
std::string not_constant(Axis axis, const Contract& beside, const Layout& layout) {
  std::vector<std::string> names;
  for (int i = layout.n_modes - 1; i >= 0; --i) {
    if (layout.modes[i].axis == axis) names.emplace_back(layout.modes[i].name);
  }
  return fmt::format("not constant: {} splits {} into {}", beside.name, axis_text(axis),
                     fmt::join(names, ", "));
}

std::string drift_text(const PageDigit& digit, const Contract& beside, const Layout& of_beside,
                       const Shape& shape) {
  if (!digit.wrong) return not_constant(digit.mode->axis, beside, of_beside);
  if (digit.drift_bytes == 0) return "none";
  const std::string drift = fmt::format("{} bytes {}", distance_text(digit, shape),
                                        digit.drift_bytes > 0 ? "too low" : "too high");
  return digit.count > 1 ? drift
                         : fmt::format("{}; not here, with one {}", drift, digit.mode->name);
}

std::string drift_table(const Contract& plane, const Contract& beside, const Misread& misread,
                        const Shape& shape) {
  Rows rows = {{"per", plane.name, beside.name, "drift of the wrong address"}};
  const auto moved = [&](Size stride_bits) {
    const std::string symbolic = text_of_bits(stride_bits), bound = bound_text(stride_bits, shape);
    return symbolic == bound ? bound : symbolic + " = " + bound;
  };
  for (const PageDigit& digit : misread.digits()) {
    rows.push_back({digit.mode->name, moved(digit.right_bits),
                    digit.wrong ? moved(*digit.wrong) : "-",
                    drift_text(digit, beside, misread.field_beside().layout, shape)});
  }
  return table(rows);
}

/// The option that makes a second page of the digit's axis.
std::string second_page(const PageDigit& digit) {
  switch (digit.mode->axis) {
    case Axis::kRow:
      return fmt::format("--od {}", digit.mode->div + 1);
    case Axis::kK:
      return fmt::format("--id {}", (digit.mode->div / kSuperBlockElems + 1) * kSuperBlockElems);
    case Axis::kToken:
      return fmt::format("--nt {}", digit.mode->div + 1);
  }
  return "";
}

std::string cannot_show(const Misread& misread) {
  std::vector<std::string> ones, options;
  for (const PageDigit& digit : misread.digits()) {
    if (digit.drift_bytes == 0 || digit.count > 1) continue;
    ones.push_back(fmt::format("one {}", digit.mode->name));
    options.push_back(second_page(digit));
  }
  if (ones.empty()) return "Both place every value at the same address.\n";
  return fmt::format(
      "The difference cannot show at this shape: with {} both place every value at "
      "the same\naddress. It shows from {} on.\n",
      fmt::join(ones, " and "), fmt::join(options, " or "));
}

std::string reach_text(const Contract& plane, const Misread& misread, const Shape& shape) {
  if (!misread.linear()) return "";
  const int64_t highest = misread.highest_wrong_byte(), size_bytes = plane.size_bytes(shape);
  return fmt::format("reach             byte {} of {}: {}\n", highest, size_bytes,
                     highest < size_bytes ? "inside the plane, so no memory checker can object"
                                          : "beyond the plane's end");
}

std::string first_text(const Contract& plane, const Contract& beside, const Misread& misread,
                       const Misread::Value& first) {
  return fmt::format("first difference  {} {}, k {}: byte {} by {}, byte {} by the pages of {}\n",
                     plane.role == Role::kWeights ? "row" : "token", first.line, first.k,
                     misread.right_bytes(first), plane.name, misread.wrong_bytes(first),
                     beside.name);
}

/// The middle of the tensor, or the first difference where the two agree there.
Misread::Value example(const Contract& plane, const Misread& misread, const Shape& shape,
                       const Misread::Value& first) {
  const int64_t lines = plane.role == Role::kWeights ? shape.od() : shape.nt();
  const Misread::Value middle{lines / 2, shape.nsb() / 2 * kSuperBlockElems};
  return misread.right_bytes(middle) != misread.wrong_bytes(middle) ? middle : first;
}

}  // namespace

std::string explain_beside(const Contract& plane, const Contract& beside, const Shape& shape) {
  std::string out = fmt::format("{}/{} beside {}/{} at {}\n\n", plane.format, plane.name,
                                beside.format, beside.name, shape.text());
  out += side_by_side(plane, beside, shape);
  const Misread misread(plane, beside, shape);
  out += "\n" + differing_terms(plane, beside, misread, shape);
  out += fmt::format("\n{} read with the pages of {}:\n\n", plane.name, beside.name);
  out += drift_table(plane, beside, misread, shape) + "\n";
  const auto first = misread.first_difference();
  if (!first) return out + cannot_show(misread);
  out += first_text(plane, beside, misread, *first);
  out += reach_text(plane, misread, shape);
  return out + "\n" + window_text(plane, misread, shape, example(plane, misread, shape, *first));
}

}  // namespace planegate::cli
