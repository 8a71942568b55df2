#pragma once

#include <cstddef>
#include <type_traits>

#include <planegate/core/contract.h>
#include <planegate/simt/dialect.h>

namespace planegate::simt {
inline namespace PLANEGATE_SIMT_ABI {

/// Field offsets of a contract, strides bound to one shape; usable on both sides.
///
/// The digits are compile-time divisions by the modes of `Field::kField.layout`.
template <class FieldTag>
struct FieldIndex {
  int64_t stride_bits[FieldTag::kField.layout.n_modes];

  /// Bit offset of the value of line `line` at element `k`.
  PLANEGATE_DEVICE int64_t operator()(int64_t line, int64_t k) const {
    constexpr Swizzle swizzle = FieldTag::kField.layout.swizzle;
    const int64_t bits = sum(line, k, std::make_index_sequence<FieldTag::kField.layout.n_modes>{});
    if constexpr (swizzle.bits == 0) {
      return bits;
    } else {
      return swizzle.apply(bits / 8) * 8 + bits % 8;
    }
  }

 private:
  template <size_t... I>
  PLANEGATE_DEVICE int64_t sum(int64_t line, int64_t k, std::index_sequence<I...>) const {
    return FieldTag::kField.layout.base_bits + (term<I>(line, k) + ... + 0);
  }
  template <size_t I>
  PLANEGATE_DEVICE int64_t term(int64_t line, int64_t k) const {
    constexpr Mode mode = FieldTag::kField.layout.modes[I];
    constexpr bool outermost = mode.outermost();
    const int64_t coordinate = (mode.axis == Axis::kK ? k : line) / mode.div;
    return (outermost ? coordinate : coordinate % mode.extent.factor) * stride_bits[I];
  }
};

/// A plane in device memory, reachable through its own contract alone.
///
/// No arithmetic and no raw access: an address comes from a field of `Contract`, so that another
/// layout's expression does not compile. `Byte` without const: a plane that a kernel makes.
template <class ContractTag, class Byte = const std::byte>
class PlanePtr {
 public:
  PlanePtr() = default;
  PlanePtr(GlobalPtr<Byte> base, const Shape& shape)
      : base_(base), index_(make_index(typename ContractTag::Fields{}, shape)) {}

  /// The byte in which the value of line `line`, element `k` starts.
  template <class FieldTag>
  PLANEGATE_DEVICE GlobalPtr<Byte> at(int64_t line, int64_t k) const {
    return base_ + offset_bytes<FieldTag>(line, k);
  }
  /// Where that byte lies in the plane, for what was copied as it lies there.
  template <class FieldTag>
  PLANEGATE_DEVICE int64_t offset_bytes(int64_t line, int64_t k) const {
    return index<FieldTag>()(line, k) / 8;
  }
  /// How far above that byte's lowest bit it starts.
  template <class FieldTag>
  PLANEGATE_DEVICE int shift(int64_t line, int64_t k) const {
    return static_cast<int>(index<FieldTag>()(line, k) % 8);
  }
  /// The value's bits, at the bottom of a word.
  template <class FieldTag>
  PLANEGATE_DEVICE uint32_t bits(int64_t line, int64_t k) const {
    constexpr int width = FieldTag::kField.bits;
    static_assert(width == 32 || width == 16 || width <= 8,
                  "a field is 16 or 32 bits or lies in one byte");
    const int64_t at = index<FieldTag>()(line, k);
    const GlobalPtr<Byte> byte = base_ + at / 8;
    if constexpr (width == 32) {
      return byte.template cast<const uint32_t>().load();
    } else if constexpr (width == 16) {
      return byte.template cast<const uint16_t>().load();
    } else {
      const uint32_t value = byte.template cast<const uint8_t>().load();
      return (value >> (at % 8)) & ((1u << width) - 1u);
    }
  }

 private:
  template <class... F>
  struct Indices : FieldIndex<F>... {};
  template <class... F>
  static Indices<F...> indices_of(FieldList<F...>);
  using AllIndices = decltype(indices_of(typename ContractTag::Fields{}));

  template <class FieldTag>
  PLANEGATE_DEVICE const FieldIndex<FieldTag>& index() const {
    static_assert(planegate::detail::contains<FieldTag>(typename ContractTag::Fields{}),
                  "this field belongs to another plane's contract");
    return index_;
  }

  template <class... F>
  static AllIndices make_index(FieldList<F...>, const Shape& shape) {
    AllIndices indices;
    (bind_field<F>(indices, shape), ...);
    return indices;
  }
  template <class F>
  static void bind_field(FieldIndex<F>& index, const Shape& shape) {
    const BoundLayout bound = planegate::bind(F::kField.layout, shape);
    for (int i = 0; i < F::kField.layout.n_modes; ++i) index.stride_bits[i] = bound.stride_bits[i];
  }

  GlobalPtr<Byte> base_;
  AllIndices index_;
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::simt
