#pragma once

#include "kernels/q6_k/variant.h"

/// Offsets kept in 32 bits: right below 2^31, somewhere else beyond.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// StoredCodes of w_exp with exactly one policy replaced: the width of the code offset.
template <class Staging>
struct Int32OffsetCodes : StoredCodes<formats::WExp, Staging> {
  using Base = StoredCodes<formats::WExp, Staging>;
  using Plane = typename Base::Plane;

  static std::vector<Policy> policies() {
    std::vector<Policy> policies = Base::policies();
    policies.front().name += ", offset in int32";
    return policies;
  }

  static PLANEGATE_DEVICE void stage(SharedPtr<Words4> to, const Plane& plane, int64_t row,
                                     int64_t k, bool valid) {
    const auto base = plane.template at<formats::WExp::Codes>(0, 0);
    const auto right = plane.template at<formats::WExp::Codes>(row, k);
    Staging::copy(to, base + static_cast<int32_t>(right.at() - base.at()), valid);
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
