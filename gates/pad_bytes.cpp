#include "gates/pad_bytes.h"

#include <array>
#include <atomic>
#include <vector>

#include <fmt/format.h>

#include <planegate/core/errors.h>

namespace planegate::gates {
namespace {

constexpr int64_t kBitsPerByte = 8;

int64_t lines_of(const Contract& contract, const Shape& shape) {
  return contract.role == Role::kWeights ? shape.od() : shape.nt();
}

/// Bits that the values of all fields take.
int64_t value_bits(const Contract& contract, const Shape& shape) {
  int64_t bits = 0;
  for (const Field& field : contract.fields) {
    bits += lines_of(contract, shape) * (shape.id() / elems_per_value(field)) * field.bits;
  }
  return bits;
}

/// Marks the bytes of every value of one line, walking its elements by the modes of k, outermost
/// first.
class LineWalk {
 public:
  LineWalk(const Field& field, const Shape& shape, int64_t line, std::vector<char>& covered)
      : layout_(field.layout),
        bound_(bind(field.layout, shape)),
        value_bytes_((field.bits + 7) / kBitsPerByte),
        id_(shape.id()),
        covered_(covered) {
    line_bits_ = layout_.base_bits;
    for (int i = 0; i < layout_.n_modes; ++i) {
      const Mode& mode = layout_.modes[i];
      if (mode.axis == Axis::kK) {
        if (!within_a_byte(i)) k_modes_[static_cast<size_t>(n_k_modes_++)] = i;
        continue;
      }
      const int64_t digit = line / mode.div;
      line_bits_ += bound_.stride_bits[i] * (mode.outermost() ? digit : digit % mode.extent.factor);
    }
  }

  void mark() { descend(n_k_modes_ - 1, 0, line_bits_); }

 private:
  /// All digits of the mode lie in the byte of the first.
  bool within_a_byte(int i) const {
    const Mode& mode = layout_.modes[i];
    return !mode.outermost() && mode.extent.factor * bound_.stride_bits[i] <= kBitsPerByte &&
           layout_.base_bits % kBitsPerByte == 0;
  }

  void descend(int at, int64_t k, int64_t offset_bits) {
    if (at < 0) return mark_value(offset_bits / kBitsPerByte);
    const int i = k_modes_[static_cast<size_t>(at)];
    const Mode& mode = layout_.modes[i];
    const int64_t limit = mode.outermost() ? id_ : mode.extent.factor;
    for (int64_t digit = 0; digit < limit && k < id_; ++digit, k += mode.div) {
      descend(at - 1, k, offset_bits);
      offset_bits += bound_.stride_bits[i];
    }
  }

  /// Lines are walked at once, and two of them may share a byte.
  void mark_value(int64_t byte) {
    if (layout_.swizzle.bits != 0) byte = layout_.swizzle.apply(byte);
    for (int64_t i = 0; i < value_bytes_; ++i) {
      std::atomic_ref(covered_[static_cast<size_t>(byte + i)]).store(1, std::memory_order_relaxed);
    }
  }

  const Layout& layout_;
  BoundLayout bound_;
  int64_t value_bytes_;
  int64_t id_;
  std::vector<char>& covered_;
  int64_t line_bits_ = 0;
  std::array<int, Layout::kMaxModes> k_modes_{};
  int n_k_modes_ = 0;
};

}  // namespace

void fill_pads(const Contract& contract, const Shape& shape, std::byte value,
               std::span<std::byte> plane) {
  const int64_t bytes = contract.size_bytes(shape);
  require(std::ssize(plane) == bytes, contract.name, std::ssize(plane),
          fmt::format("the {} bytes of {}", bytes, shape.text()));
  if (value_bits(contract, shape) == bytes * kBitsPerByte) return;
  std::vector<char> covered(plane.size());
#pragma omp parallel for schedule(static)
  for (int64_t line = 0; line < lines_of(contract, shape); ++line) {
    for (const Field& field : contract.fields) LineWalk(field, shape, line, covered).mark();
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < bytes; ++i) {
    if (covered[static_cast<size_t>(i)] == 0) plane[static_cast<size_t>(i)] = value;
  }
}

}  // namespace planegate::gates
