#pragma once

#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/bind.h>

#include "kernels/q6_k/staging.h"

/// Policies: where 16 centred codes of a row come from and how they get into shared memory.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

namespace formats = planegate::q6_k;
using simt::PlanePtr;

inline Policy address_policy(const Contract& contract, const Field& field) {
  return {"code address", "contract " + contract.name + ": " + text(field.layout)};
}

/// Codes stored one byte each in the plane of `ContractTag`, moved by `Staging`.
template <class ContractTag, class Staging>
struct StoredCodes {
  using Contract = ContractTag;
  using Plane = PlanePtr<ContractTag>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return simt::bind_plane<ContractTag>(request, binder);
  }
  static std::vector<FieldUse> reads() {
    return {{&describe<ContractTag>(), {"codes"}}, {&describe<formats::Raw>(), {"sc", "d"}}};
  }
  static std::vector<Policy> policies() {
    return {address_policy(describe<ContractTag>(), ContractTag::Codes::kField),
            {"code staging", Staging::kName},
            {"tail rows", Staging::kTail}};
  }

  static PLANEGATE_DEVICE void stage(SharedPtr<Words4> to, const Plane& plane, int64_t row,
                                     int64_t k, bool valid) {
    Staging::copy(to, plane.template at<typename ContractTag::Codes>(row, k), valid);
  }
};

/// Codes expanded in the kernel from ql and qh of the file's own blocks: the control arm.
template <class ContractTag>
struct ExpandedCodes {
  using Contract = ContractTag;
  using Plane = PlanePtr<ContractTag>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return simt::bind_plane<ContractTag>(request, binder);
  }
  static std::vector<FieldUse> reads() {
    return {{&describe<ContractTag>(), {"ql", "qh", "sc", "d"}}};
  }
  static std::vector<Policy> policies() {
    return {address_policy(describe<ContractTag>(), ContractTag::Ql::kField),
            {"code staging", "expanded bytewise from ql and qh"},
            {"tail rows", "tail rows zero by select"}};
  }

  static PLANEGATE_DEVICE void stage(SharedPtr<Words4> to, const Plane& plane, int64_t row,
                                     int64_t k, bool valid) {
    Words4 piece = {};
    if (valid) {
      PLANEGATE_UNROLL
      for (int i = 0; i < 4; ++i) {
        piece.w[i] =
            simt::pack_bytes(code(plane, row, k + 4 * i), code(plane, row, k + 4 * i + 1),
                             code(plane, row, k + 4 * i + 2), code(plane, row, k + 4 * i + 3));
      }
    }
    to.store(0, piece);
  }

 private:
  static PLANEGATE_DEVICE uint32_t code(const Plane& plane, int64_t row, int64_t k) {
    const uint32_t low = plane.template bits<typename ContractTag::Ql>(row, k);
    const uint32_t high = plane.template bits<typename ContractTag::Qh>(row, k);
    return (low | high << 4) - static_cast<uint32_t>(formats::kCentre);
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
