#include <algorithm>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/core/layout.h>

namespace planegate {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 62;

int64_t evaluate(Symbol symbol, const Shape& shape) {
  switch (symbol) {
    case Symbol::kOne:
      return 1;
    case Symbol::kOd:
      return shape.od();
    case Symbol::kOdEven:
      return (shape.od() + 1) / 2 * 2;
    case Symbol::kNsb:
      return shape.nsb();
    case Symbol::kNt:
      return shape.nt();
    case Symbol::kTokenTiles:
      return (shape.nt() + kTokenTileTokens - 1) / kTokenTileTokens;
  }
  return 1;
}

std::string symbol_text(Symbol symbol) {
  switch (symbol) {
    case Symbol::kOne:
      return "";
    case Symbol::kOd:
      return "od";
    case Symbol::kOdEven:
      return "od_even";
    case Symbol::kNsb:
      return "nsb";
    case Symbol::kNt:
      return "nt";
    case Symbol::kTokenTiles:
      return "ceil(nt/64)";
  }
  return "";
}

const Mode* find(const Layout& layout, std::string_view name) {
  const Mode* end = layout.modes + layout.n_modes;
  const Mode* mode = std::find_if(layout.modes, end, [&](const Mode& m) { return m.name == name; });
  return mode == end ? nullptr : mode;
}

std::string stride_text(const Mode* mode) {
  return mode == nullptr ? "absent" : text_of_bits(mode->stride_bits);
}

std::string swizzle_text(Swizzle s) {
  return s.bits == 0 ? "none" : fmt::format("<{},{},{}>", s.bits, s.base, s.shift);
}

}  // namespace

int64_t evaluate(Size size, const Shape& shape) {
  int64_t value = size.factor;
  for (const Symbol symbol : {size.a, size.b}) {
    const int64_t extent = evaluate(symbol, shape);
    require(value <= kMaxSize / extent, text(size), extent, "a product below 2^62");
    value *= extent;
  }
  return value;
}

BoundLayout bind(const Layout& layout, const Shape& shape) {
  BoundLayout bound;
  for (int i = 0; i < layout.n_modes; ++i) {
    bound.stride_bits[i] = evaluate(layout.modes[i].stride_bits, shape);
  }
  return bound;
}

int64_t offset_bits(const Layout& layout, const BoundLayout& bound, int64_t line, int64_t k) {
  int64_t bits = layout.base_bits;
  for (int i = 0; i < layout.n_modes; ++i) {
    const Mode& mode = layout.modes[i];
    const int64_t coordinate = (mode.axis == Axis::kK ? k : line) / mode.div;
    const int64_t digit = mode.outermost() ? coordinate : coordinate % mode.extent.factor;
    bits += digit * bound.stride_bits[i];
  }
  return layout.swizzle.apply(bits / 8) * 8 + bits % 8;
}

std::string text(Size size) {
  if (size.a == Symbol::kOne && size.b == Symbol::kOne) return std::to_string(size.factor);
  std::string out;
  int64_t factor = size.factor;
  for (const Symbol symbol : {size.a, size.b}) {
    if (symbol == Symbol::kOne) continue;
    const bool whole_lines = symbol == Symbol::kNsb && factor % kSuperBlockElems == 0;
    if (whole_lines) factor /= kSuperBlockElems;
    if (!out.empty()) out += '*';
    out += whole_lines ? "id" : symbol_text(symbol);
  }
  return factor == 1 ? out : fmt::format("{}*{}", out, factor);
}

std::string text_of_bits(Size size_bits) {
  if (size_bits.factor % 8 != 0) return text(size_bits) + "b";
  return text(Size{size_bits.factor / 8, size_bits.a, size_bits.b});
}

std::string text(const Layout& layout) {
  std::string out;
  for (int i = layout.n_modes - 1; i >= 0; --i) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : "  ", layout.modes[i].name,
                       stride_text(&layout.modes[i]));
  }
  if (layout.base_bits != 0) out += fmt::format("  @{}", text_of_bits(Size{layout.base_bits}));
  if (layout.swizzle.bits != 0) out += "  xor" + swizzle_text(layout.swizzle);
  return out;
}

std::vector<TermDifference> compare(const Layout& left, const Layout& right) {
  std::vector<TermDifference> differences;
  const auto note = [&](std::string term, std::string l, std::string r) {
    if (l != r) differences.push_back({std::move(term), std::move(l), std::move(r)});
  };
  for (int i = left.n_modes - 1; i >= 0; --i) {
    const Mode& mode = left.modes[i];
    note(mode.name, stride_text(&mode), stride_text(find(right, mode.name)));
  }
  for (int i = right.n_modes - 1; i >= 0; --i) {
    const Mode& mode = right.modes[i];
    if (find(left, mode.name) == nullptr) note(mode.name, "absent", stride_text(&mode));
  }
  note("base", text_of_bits(Size{left.base_bits}), text_of_bits(Size{right.base_bits}));
  note("swizzle", swizzle_text(left.swizzle), swizzle_text(right.swizzle));
  return differences;
}

}  // namespace planegate
