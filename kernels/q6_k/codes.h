#pragma once

#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/bind.h>

#include "kernels/q6_k/staging.h"

/// Policies: where 16 centred codes of a row come from. `piece()` gives them in registers,
/// `stage()` puts them into shared memory; tail rows (`valid` false) are zeros and not read.
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
  static FieldUse reads() { return {&describe<ContractTag>(), {"codes"}}; }
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

/// Codes expanded in the kernel from ql and qh of a plane that keeps the file's blocks; `Loads`
/// says how their bytes are read.
template <class ContractTag, class Loads>
struct ExpandedCodes {
  using Contract = ContractTag;
  using Plane = PlanePtr<ContractTag>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return simt::bind_plane<ContractTag>(request, binder);
  }
  static FieldUse reads() { return {&describe<ContractTag>(), {"ql", "qh"}}; }
  static std::vector<Policy> policies() {
    return {address_policy(describe<ContractTag>(), ContractTag::Ql::kField),
            {"code staging", Loads::kName},
            {"tail rows", "zero by select"}};
  }

  static PLANEGATE_DEVICE Words4 piece(const Plane& plane, int64_t row, int64_t k) {
    return Loads::template piece<ContractTag>(plane, row, k);
  }
  static PLANEGATE_DEVICE void stage(SharedPtr<Words4> to, const Plane& plane, int64_t row,
                                     int64_t k, bool valid) {
    Words4 codes = {};
    if (valid) codes = piece(plane, row, k);
    to.store(0, codes);
  }
};

/// One byte of ql and one of qh for every code: the control arm's way.
struct ExpandBytewise {
  static constexpr const char* kName = "expanded from ql and qh, bytewise";

  template <class ContractTag>
  static PLANEGATE_DEVICE Words4 piece(const PlanePtr<ContractTag>& plane, int64_t row, int64_t k) {
    Words4 codes;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int64_t at = k + 4 * i;
      codes.w[i] = simt::pack_bytes(code(plane, row, at), code(plane, row, at + 1),
                                    code(plane, row, at + 2), code(plane, row, at + 3));
    }
    return codes;
  }

 private:
  template <class ContractTag>
  static PLANEGATE_DEVICE uint32_t code(const PlanePtr<ContractTag>& plane, int64_t row,
                                        int64_t k) {
    const uint32_t low = plane.template bits<typename ContractTag::Ql>(row, k);
    const uint32_t high = plane.template bits<typename ContractTag::Qh>(row, k);
    return (low | high << 4) - static_cast<uint32_t>(formats::kCentre);
  }
};

/// One 16-byte load of ql and one of qh for 16 codes. @pre blocks start at 16-byte addresses.
struct Expand16 {
  static constexpr const char* kName = "expanded from ql and qh, 16-byte loads";

  template <class ContractTag>
  static PLANEGATE_DEVICE Words4 piece(const PlanePtr<ContractTag>& plane, int64_t row, int64_t k) {
    static_assert(ContractTag::kAlignmentBytes % 16 == 0);
    using Ql = typename ContractTag::Ql;
    using Qh = typename ContractTag::Qh;
    const Words4 low = plane.template at<Ql>(row, k).template cast<const Words4>().load();
    const Words4 high = plane.template at<Qh>(row, k).template cast<const Words4>().load();
    const int low_shift = plane.template shift<Ql>(row, k);
    const int high_shift = plane.template shift<Qh>(row, k);
    Words4 codes;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      codes.w[i] = centred((low.w[i] >> low_shift & 0x0F0F0F0Fu) |
                           (high.w[i] >> high_shift & 0x03030303u) << 4);
    }
    return codes;
  }

 private:
  /// Four codes 0..63, less 32 each, without borrows between them.
  static PLANEGATE_DEVICE uint32_t centred(uint32_t codes) {
    return ((codes | 0x80808080u) - 0x20202020u) ^ 0x80808080u;
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
