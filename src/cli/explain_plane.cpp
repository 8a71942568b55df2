#include <algorithm>

#include <fmt/format.h>

#include "cli/explain_texts.h"
#include "cli/table.h"

namespace planegate::cli {
namespace {

std::string digit_text(const Mode& mode) {
  std::string digit = axis_text(mode.axis);
  if (mode.div != 1) digit += fmt::format("/{}", mode.div);
  return mode.outermost() ? digit : fmt::format("{} % {}", digit, mode.extent.factor);
}

std::string range_text(const Field& field) {
  if (field.encoding == Encoding::kF16) return "f16";
  if (field.encoding == Encoding::kF32) return "f32";
  return fmt::format("{}..{}", field.min, field.max);
}

/// Bytes of all values of a field. @pre they fit into the plane
int64_t covered_bytes(const Field& field, int64_t lines, int64_t id) {
  const int64_t values = lines * (id / elems_per_value(field));
  return field.bits % 8 == 0 ? values * (field.bits / 8) : values * field.bits / 8;
}

std::string swizzle_text(const Contract& plane) {
  std::string out;
  for (const Field& field : plane.fields) {
    const Swizzle& s = field.layout.swizzle;
    if (s.bits == 0) continue;
    out +=
        fmt::format("{}{}: xor<{},{},{}>, bits {}..{} of the byte offset onto bits {}..{}",
                    out.empty() ? "" : "; ", field.name, s.bits, s.base, s.shift, s.base + s.shift,
                    s.base + s.shift + s.bits - 1, s.base, s.base + s.bits - 1);
  }
  return out.empty() ? "none" : out;
}

using Rows = std::vector<std::vector<std::string>>;

/// The terms of a field's address, from the outermost; the first row names the field.
Rows term_rows(const Field& field, const Shape& shape) {
  Rows rows;
  for (int i = field.layout.n_modes - 1; i >= 0; --i) {
    const Mode& mode = field.layout.modes[i];
    rows.push_back({"", "", "", "", mode.name, digit_text(mode), size_text(mode.extent, shape),
                    text_of_bits(mode.stride_bits), bound_text(mode.stride_bits, shape)});
  }
  if (field.layout.base_bits != 0 || rows.empty()) {
    const Size base{field.layout.base_bits};
    rows.push_back({"", "", "", "", "base", "", "", text_of_bits(base), bound_text(base, shape)});
  }
  rows.front()[0] = field.name;
  rows.front()[1] = std::to_string(field.bits);
  rows.front()[2] = range_text(field);
  rows.front()[3] = std::to_string(elems_per_value(field));
  return rows;
}

std::string term_table(const Contract& plane, const Shape& shape) {
  const char* served = plane.role == Role::kWeights ? "weights per value" : "elements per value";
  Rows rows = {{"field", "bits", "range", served, "term", "digit", "extent", "stride", "in bytes"}};
  for (const Field& field : plane.fields) {
    for (auto& row : term_rows(field, shape)) rows.push_back(std::move(row));
  }
  return table(rows);
}

}  // namespace

const char* axis_text(Axis axis) {
  switch (axis) {
    case Axis::kRow:
      return "row";
    case Axis::kK:
      return "k";
    case Axis::kToken:
      return "token";
  }
  return "";
}

std::string padding_text(const Contract& plane, const Shape& shape) {
  const int64_t lines = plane.role == Role::kWeights ? shape.od() : shape.nt();
  int64_t padding_bytes = plane.size_bytes(shape);
  for (const Field& field : plane.fields) {
    padding_bytes -= covered_bytes(field, lines, shape.id());
  }
  if (padding_bytes == 0) return "none";
  return fmt::format("{} of 0x{:02x}", counted(padding_bytes, "byte"), plane.pad_value & 0xff);
}

std::string value_text(const Field& field) {
  return fmt::format("{}b {}", field.bits, range_text(field));
}

std::string bound_text(Size stride_bits, const Shape& shape) {
  const int64_t bits = evaluate(stride_bits, shape);
  return bits % 8 == 0 ? std::to_string(bits / 8) : counted(bits, "bit");
}

std::string size_text(Size size_bytes, const Shape& shape) {
  const std::string symbolic = text(size_bytes);
  const std::string bound = std::to_string(evaluate(size_bytes, shape));
  return symbolic == bound ? bound : symbolic + " = " + bound;
}

std::string counted(int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string explain_plane(const Contract& plane, const Shape& shape) {
  std::string out = fmt::format("{}/{} at {}\n\n", plane.format, plane.name, shape.text());
  out += fmt::format("size       {} bytes\n", size_text(plane.bytes, shape));
  out += fmt::format("alignment  {}\n", counted(plane.alignment_bytes, "byte"));
  out += fmt::format("padding    {}\n", padding_text(plane, shape));
  out += fmt::format("swizzle    {}\n\n", swizzle_text(plane));
  out += term_table(plane, shape);
  return out + "\naddress = base + the sum of digit x stride, then the swizzle\n";
}

}  // namespace planegate::cli
