#pragma once

#include "kernels/q6_k/access.h"

/// Ways to a plane that are wrong on purpose: what known-bad arms put in place of OwnLayout.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// The plane of `Of` read as if it had been written under `View`, whose kWhy says what that is.
template <class View, class Of>
struct Misread {
  using Layout = View;
  using Plane = PlanePtr<View>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return simt::misbind_plane<View, Of>(request, binder);
  }
  static std::string text(const Field& field) {
    return std::string(View::kWhy) + ": " + planegate::text(field.layout);
  }
};

/// Extents for address mistakes.
struct Extents {
  int64_t od, id, nt;
  int64_t row_origin, k_origin;  ///< of a tensor-parallel slice
};
/// A line (row or token) and an element of it.
struct Place {
  int64_t line, k;
};

/// A plane in which the value of (line, k) is looked for at `Remap::map<Field>(place, extents)`.
template <class Of, class Remap>
class RemappedPlane {
 public:
  RemappedPlane() = default;
  RemappedPlane(PlanePtr<Of> plane, Extents extents) : plane_(plane), extents_(extents) {}

  template <class FieldTag>
  PLANEGATE_DEVICE simt::GlobalPtr<const std::byte> at(int64_t line, int64_t k) const {
    const Place from = Remap::template map<FieldTag>({line, k}, extents_);
    return plane_.template at<FieldTag>(from.line, from.k);
  }
  template <class FieldTag>
  PLANEGATE_DEVICE int shift(int64_t line, int64_t k) const {
    const Place from = Remap::template map<FieldTag>({line, k}, extents_);
    return plane_.template shift<FieldTag>(from.line, from.k);
  }
  template <class FieldTag>
  PLANEGATE_DEVICE uint32_t bits(int64_t line, int64_t k) const {
    const Place from = Remap::template map<FieldTag>({line, k}, extents_);
    return plane_.template bits<FieldTag>(from.line, from.k);
  }

 private:
  PlanePtr<Of> plane_;
  Extents extents_;
};

/// The right layout asked for the wrong coordinates.
template <class Of, class Remap>
struct Remapped {
  using Layout = Of;
  using Plane = RemappedPlane<Of, Remap>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    const Shape& shape = request.shape;
    return {simt::bind_plane<Of>(request, binder),
            {shape.od(), shape.id(), shape.nt(), shape.range(Axis::kRow).origin,
             shape.range(Axis::kK).origin}};
  }
  static std::string text(const Field& field) {
    return std::string(Remap::kWhy) + " of " + planegate::text(field.layout);
  }
};

/// The right layout with the strides of another shape: `OtherShape::shape(request.shape)`.
template <class Of, class OtherShape>
struct StridesOfShape {
  using Layout = Of;
  using Plane = PlanePtr<Of>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    LaunchRequest other = request;
    other.shape = OtherShape::shape(request.shape);
    return simt::bind_plane<Of>(other, binder);
  }
  static std::string text(const Field& field) {
    return std::string(OtherShape::kWhy) + ": " + planegate::text(field.layout);
  }
};

/// A variant that Dispatch would never prefer.
template <class Variant>
struct KnownBad : Variant {
  static constexpr int kRank = 99;
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
