#pragma once

#include "kernels/q6_k/codes.h"

/// Policies: where the weight scales d*sc come from. `stage()` fills (chunk, row, half) of a step
/// in shared memory, zeros for tail rows.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// d*sc in f32, which is exact.
struct ExactProduct {
  static constexpr const char* kName = "d*sc decoded in the kernel";

  static PLANEGATE_DEVICE float scale(uint32_t d_bits, uint32_t sc_bits) {
    return simt::half_to_float(d_bits) * static_cast<float>(static_cast<int8_t>(sc_bits));
  }
};

/// d and sc of a plane that keeps the file's blocks, multiplied in the kernel by `Product`.
template <class ContractTag, class Access = OwnLayout<ContractTag>, class Product = ExactProduct>
struct DecodedScales {
  using Plane = typename Access::Plane;
  using Layout = typename Access::Layout;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return Access::bind(request, binder);
  }
  static FieldUse reads() { return {&describe<ContractTag>(), {"sc", "d"}}; }
  static Policy policy() {
    std::string name = std::string(Product::kName) + " from " + describe<ContractTag>().name;
    if constexpr (!std::is_same_v<Access, OwnLayout<ContractTag>>) {
      name += ", " + Access::text(Layout::D::kField);
    }
    return {"scales", name};
  }

  static PLANEGATE_DEVICE float scale(const Plane& plane, int64_t row, int64_t k) {
    return Product::scale(plane.template bits<typename Layout::D>(row, k),
                          plane.template bits<typename Layout::Sc>(row, k));
  }

  /// The scales of elements k, k+32, k+64 and k+96.
  struct Quad {
    float of[4];
  };
  static PLANEGATE_DEVICE Quad quad(const Plane& plane, int64_t row, int64_t k) {
    const uint32_t d = plane.template bits<typename Layout::D>(row, k);
    const auto sc = plane.template at<typename Layout::Sc>(row, k).template cast<const uint8_t>();
    Quad out;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      out.of[i] = Product::scale(d, sc.load(32 / formats::kSubBlockElems * i));
    }
    return out;
  }

  template <int kThreads, int kRows, int kChunks>
  static PLANEGATE_DEVICE void stage(SharedPtr<float> to, const Plane& plane, int64_t row0,
                                     int64_t k0, int64_t od) {
    PLANEGATE_UNROLL
    for (int i = simt::thread(); i < kChunks * kRows * 2; i += kThreads) {
      const int64_t row = row0 + i / 2 % kRows;
      const int64_t k = k0 + i / (2 * kRows) * 32 + i % 2 * formats::kSubBlockElems;
      to.store(i, row < od ? scale(plane, row, k) : 0.0f);
    }
  }
};

/// sc and d of a super-block as they lie in a plane of 16-byte blocks: two pieces, moved by
/// `Staging`; the second is d and what follows it.
template <class ContractTag, class Staging, class Access = OwnLayout<ContractTag>>
struct BlockScales {
  using Plane = typename Access::Plane;
  using Layout = typename Access::Layout;
  static_assert(ContractTag::kAlignmentBytes % 16 == 0);

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return Access::bind(request, binder);
  }
  static FieldUse reads() { return {&describe<ContractTag>(), {"sc", "d"}}; }
  static Policy policy() {
    std::string name = "sc and d apart, from " + describe<ContractTag>().name;
    if constexpr (!std::is_same_v<Access, OwnLayout<ContractTag>>) {
      name += ", " + Access::text(Layout::D::kField);
    }
    return {"scales", name};
  }

  static PLANEGATE_DEVICE void stage(SharedPtr<Words4> to, const Plane& plane, int64_t row,
                                     int64_t k, int piece, bool valid) {
    const auto from = piece == 0 ? plane.template at<typename Layout::Sc>(row, k)
                                 : plane.template at<typename Layout::D>(row, k);
    Staging::copy(to, from, valid);
  }
};

/// Products stored in w_dsc: a 16-byte copy brings both halves of two rows.
template <class Staging, class Access = OwnLayout<formats::WDsc>>
struct StoredScales {
  using Plane = typename Access::Plane;
  using Dsc = typename Access::Layout::Dsc;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return Access::bind(request, binder);
  }
  static FieldUse reads() { return {&describe<formats::WDsc>(), {"dsc"}}; }
  static Policy policy() {
    if constexpr (!std::is_same_v<Access, OwnLayout<formats::WDsc>>) {
      return {"scales", Access::text(Dsc::kField)};
    }
    return {"scales", "w_dsc: " + text(Dsc::kField.layout)};
  }

  static PLANEGATE_DEVICE float scale(const Plane& plane, int64_t row, int64_t k) {
    return plane.template at<Dsc>(row, k).template cast<const float>().load();
  }

  /// The scales of elements k, k+32, k+64 and k+96.
  struct Quad {
    float of[4];
  };
  static PLANEGATE_DEVICE Quad quad(const Plane& plane, int64_t row, int64_t k) {
    Quad out;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) out.of[i] = scale(plane, row, k + 32 * i);
    return out;
  }

  template <int kThreads, int kRows, int kChunks>
  static PLANEGATE_DEVICE void stage(SharedPtr<float> to, const Plane& plane, int64_t row0,
                                     int64_t k0, int64_t od) {
    constexpr int kPieces = kChunks * kRows / 2;
    for (int i = simt::thread(); i < kPieces; i += kThreads) {
      const int64_t row = row0 + i * 2 % kRows;
      const int64_t k = k0 + i * 2 / kRows * 32;
      Staging::copy((to + 4 * i).template cast<Words4>(), plane.template at<Dsc>(row, k), row < od);
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
