#pragma once

#include "kernels/q6_k/codes.h"

/// Policies: where the weight scales d*sc come from. `stage()` fills (chunk, row, half) of a step
/// in shared memory, zeros for tail rows.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// d and sc of a plane that keeps the file's blocks, multiplied in the kernel.
template <class ContractTag>
struct DecodedScales {
  using Plane = PlanePtr<ContractTag>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return simt::bind_plane<ContractTag>(request, binder);
  }
  static FieldUse reads() { return {&describe<ContractTag>(), {"sc", "d"}}; }
  static Policy policy() {
    return {"scales", "d*sc decoded in the kernel from " + describe<ContractTag>().name};
  }

  static PLANEGATE_DEVICE float scale(const Plane& plane, int64_t row, int64_t k) {
    const float d = simt::half_to_float(plane.template bits<typename ContractTag::D>(row, k));
    const auto sc = static_cast<int8_t>(plane.template bits<typename ContractTag::Sc>(row, k));
    return d * static_cast<float>(sc);
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

/// Products stored in w_dsc: a 16-byte copy brings both halves of two rows.
template <class Staging>
struct StoredScales {
  using Plane = PlanePtr<formats::WDsc>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return simt::bind_plane<formats::WDsc>(request, binder);
  }
  static FieldUse reads() { return {&describe<formats::WDsc>(), {"dsc"}}; }
  static Policy policy() { return {"scales", "w_dsc: " + text(formats::WDsc::Dsc::kField.layout)}; }

  static PLANEGATE_DEVICE float scale(const Plane& plane, int64_t row, int64_t k) {
    return plane.template at<formats::WDsc::Dsc>(row, k).template cast<const float>().load();
  }

  template <int kThreads, int kRows, int kChunks>
  static PLANEGATE_DEVICE void stage(SharedPtr<float> to, const Plane& plane, int64_t row0,
                                     int64_t k0, int64_t od) {
    constexpr int kPieces = kChunks * kRows / 2;
    for (int i = simt::thread(); i < kPieces; i += kThreads) {
      const int64_t row = row0 + i * 2 % kRows;
      const int64_t k = k0 + i * 2 / kRows * 32;
      Staging::copy((to + 4 * i).template cast<Words4>(),
                    plane.template at<formats::WDsc::Dsc>(row, k), row < od);
    }
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
