#include "gates/pad_bytes.h"

#include <array>
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

/// Walks every value of a field by its modes, outermost first, and marks its bytes.
class FieldWalk {
 public:
  FieldWalk(const Field& field, const Shape& shape, std::vector<bool>& covered)
      : field_(field), bound_(bind(field.layout, shape)), covered_(covered) {
    for (int i = 0; i < kAxes; ++i) {
      extents_[static_cast<size_t>(i)] = shape.range(static_cast<Axis>(i)).extent;
    }
  }

  void mark() { descend(field_.layout.n_modes - 1, field_.layout.base_bits); }

 private:
  void descend(int at, int64_t offset_bits) {
    if (at < 0) {
      mark_value(offset_bits / kBitsPerByte);
      return;
    }
    const Mode& mode = field_.layout.modes[at];
    const auto axis = static_cast<size_t>(mode.axis);
    const int64_t before = coordinates_[axis];
    const int64_t limit = mode.outermost() ? extents_[axis] : mode.extent.factor;
    for (int64_t digit = 0; digit < limit && coordinates_[axis] < extents_[axis]; ++digit) {
      descend(at - 1, offset_bits);
      offset_bits += bound_.stride_bits[at];
      coordinates_[axis] += mode.div;
    }
    coordinates_[axis] = before;
  }

  void mark_value(int64_t byte) {
    if (field_.layout.swizzle.bits != 0) byte = field_.layout.swizzle.apply(byte);
    for (int64_t i = 0; i < (field_.bits + 7) / kBitsPerByte; ++i) {
      covered_[static_cast<size_t>(byte + i)] = true;
    }
  }

  const Field& field_;
  BoundLayout bound_;
  std::vector<bool>& covered_;
  std::array<int64_t, kAxes> extents_{};
  std::array<int64_t, kAxes> coordinates_{};
};

}  // namespace

void fill_pads(const Contract& contract, const Shape& shape, std::byte value,
               std::span<std::byte> plane) {
  const int64_t bytes = contract.size_bytes(shape);
  require(std::ssize(plane) == bytes, contract.name, std::ssize(plane),
          fmt::format("the {} bytes of {}", bytes, shape.text()));
  if (value_bits(contract, shape) == bytes * kBitsPerByte) return;
  std::vector<bool> covered(plane.size());
  for (const Field& field : contract.fields) FieldWalk(field, shape, covered).mark();
  for (size_t i = 0; i < plane.size(); ++i) {
    if (!covered[i]) plane[i] = value;
  }
}

}  // namespace planegate::gates
