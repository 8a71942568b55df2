#include <algorithm>

#include <fmt/format.h>

#include <planegate/core/contract.h>
#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

namespace planegate {
namespace {

/// The line and element whose value starts at or below `bits` and reaches beyond it.
std::optional<Coordinate> invert(const Field& field, const Shape& shape, int64_t lines,
                                 int64_t bits) {
  const BoundLayout bound = bind(field.layout, shape);
  Coordinate at{&field, 0, 0};
  int64_t rest = bits - field.layout.base_bits;
  if (rest < 0) return std::nullopt;
  for (int i = field.layout.n_modes - 1; i >= 0; --i) {
    const Mode& mode = field.layout.modes[i];
    const int64_t digit = rest / bound.stride_bits[i];
    if (digit >= evaluate(mode.extent, shape)) return std::nullopt;
    rest -= digit * bound.stride_bits[i];
    (mode.axis == Axis::kK ? at.k : at.line) += digit * mode.div;
  }
  if (rest >= field.bits || at.line >= lines) return std::nullopt;
  return at;
}

std::string range_text(const Field& field) {
  if (field.encoding == Encoding::kF16) return "f16";
  if (field.encoding == Encoding::kF32) return "f32";
  return fmt::format("{}..{}", field.min, field.max);
}

}  // namespace

int64_t elems_per_value(const Field& field) {
  int64_t elems = 0;
  for (int i = 0; i < field.layout.n_modes; ++i) {
    const Mode& mode = field.layout.modes[i];
    if (mode.axis == Axis::kK) elems = elems == 0 ? mode.div : std::min(elems, mode.div);
  }
  return std::max<int64_t>(elems, 1);
}

uint64_t Contract::hash() const {
  return fnv1a(fmt::format("{} {} {} {} {} {}\n{}", format, name, static_cast<int>(role),
                           alignment_bytes, pad_value, planegate::text(bytes), text()));
}

std::string Contract::text() const {
  std::string out;
  for (const Field& field : fields) {
    out += fmt::format("{}{} {}b {}  {}", out.empty() ? "" : "\n", field.name, field.bits,
                       range_text(field), planegate::text(field.layout));
  }
  return out;
}

std::optional<Coordinate> locate(const Contract& contract, const Shape& shape,
                                 int64_t offset_bytes) {
  require(offset_bytes >= 0 && offset_bytes < contract.size_bytes(shape), "offset_bytes",
          offset_bytes, fmt::format("inside {} bytes", contract.size_bytes(shape)));
  const int64_t lines = contract.role == Role::kWeights ? shape.od() : shape.nt();
  for (const Field& field : contract.fields) {
    // A swizzle whose shift is at least its width is its own inverse.
    const int64_t straight = field.layout.swizzle.apply(offset_bytes);
    if (const auto at = invert(field, shape, lines, straight * 8)) return at;
  }
  return std::nullopt;
}

std::string coordinate_text(const Contract& contract, const Shape& shape, int64_t offset_bytes) {
  const auto at = locate(contract, shape, offset_bytes);
  if (!at) return "padding";
  if (contract.role == Role::kActivations) {
    return fmt::format("token {}, k {} ({})", at->line, at->k, at->field->name);
  }
  return fmt::format("row {}, super-block {}, element {} ({})", at->line, at->k / kSuperBlockElems,
                     at->k % kSuperBlockElems, at->field->name);
}

}  // namespace planegate
