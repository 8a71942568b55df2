#include "cli/misread_window.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/explain_texts.h"

namespace planegate::cli {
namespace {

constexpr int64_t kWindowValues = 16;
constexpr size_t kLabelWidth = 8;
constexpr size_t kCellWidth = 4;

/// What stands at a wrong address.
struct Found {
  int64_t at_bytes = 0;
  bool inside = false;
  std::optional<Coordinate> value;

  int64_t super_block() const { return value ? value->k / kSuperBlockElems : 0; }
  bool beside(const Found& next) const {
    if (inside != next.inside || value.has_value() != next.value.has_value()) return false;
    if (!value) return true;
    return value->field == next.value->field && value->line == next.value->line &&
           super_block() == next.super_block();
  }
};

class Window {
 public:
  Window(const Contract& plane, const Misread& misread, const Shape& shape,
         const Misread::Value& from)
      : plane_(plane), shape_(shape), field_(misread.field()), from_(from) {
    const int64_t step = elems_per_value(field_);
    const int64_t end = std::min(shape.id(), (from.k / kSuperBlockElems + 1) * kSuperBlockElems);
    for (int64_t k = from.k; k < end && std::ssize(found_) < kWindowValues; k += step) {
      wanted_.push_back(k);
      found_.push_back(find(misread.wrong_bytes({from.line, k})));
    }
  }

  std::string text() const {
    const auto elements = [](int64_t k) { return std::to_string(k % kSuperBlockElems); };
    std::string wanted, found;
    for (size_t i = 0; i < found_.size(); ++i) {
      wanted += cell(i == 0, elements(wanted_[i]));
      found += cell(starts_run(i), found_[i].value ? elements(found_[i].value->k) : "--");
    }
    std::string out = labelled("", value_text(from_.line, from_.k / kSuperBlockElems, field_));
    out += labelled("wanted", wanted + " |") + labelled("found", found + " |");
    for (size_t i = 0; i < found_.size(); ++i) {
      if (starts_run(i))
        out += labelled("", std::string(i * kCellWidth, ' ') + run_text(found_[i]));
    }
    return out;
  }

 private:
  static std::string cell(bool first, const std::string& content) {
    return fmt::format("{}{:>{}}", first ? '|' : ' ', content, kCellWidth - 1);
  }
  static std::string labelled(const std::string& label, const std::string& content) {
    return fmt::format("  {:<{}}{}\n", label, kLabelWidth, content);
  }
  bool starts_run(size_t i) const { return i == 0 || !found_[i - 1].beside(found_[i]); }

  Found find(int64_t at_bytes) const {
    const bool inside = at_bytes >= 0 && at_bytes < plane_.size_bytes(shape_);
    return {at_bytes, inside, inside ? locate(plane_, shape_, at_bytes) : std::nullopt};
  }

  std::string value_text(int64_t line, int64_t super_block, const Field& field) const {
    return fmt::format("{} {}, super-block {} ({})",
                       plane_.role == Role::kWeights ? "row" : "token", line, super_block,
                       field.name);
  }

  std::string run_text(const Found& first) const {
    const std::string at = fmt::format("from byte {}", first.at_bytes);
    if (!first.inside) return "outside of the plane, " + at;
    if (!first.value) return "padding, " + at;
    const Coordinate& value = *first.value;
    const BoundLayout bound = bind(value.field->layout, shape_);
    const int64_t start = offset_bits(value.field->layout, bound, value.line, value.k) / 8;
    return fmt::format(
        "{}, {}{}", value_text(value.line, first.super_block(), *value.field), at,
        first.at_bytes == start ? "" : fmt::format(", inside a value that starts at {}", start));
  }

  const Contract& plane_;
  const Shape& shape_;
  const Field& field_;
  Misread::Value from_;
  std::vector<int64_t> wanted_;
  std::vector<Found> found_;
};

std::string address_text(const Contract& plane, const Shape& shape, int64_t at_bytes) {
  const bool inside = at_bytes >= 0 && at_bytes < plane.size_bytes(shape);
  return fmt::format("byte {} = {}", at_bytes,
                     inside ? coordinate_text(plane, shape, at_bytes) : "outside of the plane");
}

}  // namespace

std::string window_text(const Contract& plane, const Misread& misread, const Shape& shape,
                        const Misread::Value& from) {
  std::string out = "example\n";
  out += fmt::format("  right   {}\n", address_text(plane, shape, misread.right_bytes(from)));
  out += fmt::format("  wrong   {}\n\n", address_text(plane, shape, misread.wrong_bytes(from)));
  return out + Window(plane, misread, shape, from).text();
}

}  // namespace planegate::cli
