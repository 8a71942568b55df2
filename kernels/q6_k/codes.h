#pragma once

#include <planegate/formats/q6_k/contracts.h>

#include "kernels/q6_k/access.h"
#include "kernels/q6_k/staging.h"

/// Policies: where 16 centred codes of a row come from. `piece()` gives them in registers,
/// `stage()` puts them into shared memory; tail rows (`valid` false) are zeros and not read.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

namespace formats = planegate::q6_k;

/// Codes stored one byte each in the plane of `ContractTag`, moved by `Staging`.
template <class ContractTag, class Staging_, class Access = OwnLayout<ContractTag>>
struct StoredCodes {
  using Staging = Staging_;
  using Contract = ContractTag;
  using Plane = typename Access::Plane;
  using Codes = typename Access::Layout::Codes;
  /// Elements of a row that lie byte after byte, from a multiple of them on.
  static constexpr int64_t kContiguousElems = contiguous_elems(Codes::kField);

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return Access::bind(request, binder);
  }
  static FieldUse reads() { return {&describe<ContractTag>(), {"codes"}}; }
  static std::vector<Policy> policies() {
    return {{"code address", Access::text(Codes::kField)},
            {"code staging", Staging::kName},
            {"tail rows", Staging::kTail}};
  }

  static PLANEGATE_DEVICE simt::GlobalPtr<const std::byte> at(const Plane& plane, int64_t row,
                                                              int64_t k) {
    return plane.template at<Codes>(row, k);
  }
  static PLANEGATE_DEVICE void stage(SharedPtr<Words4> to, const Plane& plane, int64_t row,
                                     int64_t k, bool valid) {
    Staging::copy(to, at(plane, row, k), valid);
  }
};

/// Codes expanded in the kernel from ql and qh of a plane that keeps the file's blocks; `Loads`
/// says how their bytes are read.
template <class ContractTag, class Loads, class Access = OwnLayout<ContractTag>>
struct ExpandedCodes {
  using Contract = ContractTag;
  using Plane = typename Access::Plane;
  using Layout = typename Access::Layout;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return Access::bind(request, binder);
  }
  static FieldUse reads() { return {&describe<ContractTag>(), {"ql", "qh"}}; }
  static std::vector<Policy> policies() {
    return {{"code address", Access::text(Layout::Ql::kField)},
            {"code staging", Loads::kName},
            {"tail rows", "zero by select"}};
  }

  static PLANEGATE_DEVICE Words4 piece(const Plane& plane, int64_t row, int64_t k) {
    return Loads::template piece<Layout>(plane, row, k);
  }
  static PLANEGATE_DEVICE void stage(SharedPtr<Words4> to, const Plane& plane, int64_t row,
                                     int64_t k, bool valid) {
    Words4 codes = {};
    if (valid) codes = piece(plane, row, k);
    to.store(0, codes);
  }

  /// The bytes of 64 codes, elements k, k+32, k+64, k+96 and the 15 behind each.
  struct Quad {
    Words4 low[2], high;
  };
  /// Where in its byte each of the four lies; the same for all rows and super-blocks.
  struct Shifts {
    int low[2], high[4];
  };

  static PLANEGATE_DEVICE Shifts shifts(const Plane& plane, int64_t row, int64_t k) {
    Shifts out;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i % 2 == 0) out.low[i / 2] = plane.template shift<typename Layout::Ql>(row, k + 32 * i);
      out.high[i] = plane.template shift<typename Layout::Qh>(row, k + 32 * i);
    }
    return out;
  }
  static PLANEGATE_DEVICE Quad quad(const Plane& plane, int64_t row, int64_t k) {
    static_assert(Layout::kAlignmentBytes % 16 == 0);
    const auto low = plane.template at<typename Layout::Ql>(row, k);
    const auto high = plane.template at<typename Layout::Qh>(row, k);
    return {
        {low.template cast<const Words4>().load(), (low + 32).template cast<const Words4>().load()},
        high.template cast<const Words4>().load()};
  }
  /// Sixteen codes 0..63, number `i` of the quad.
  static PLANEGATE_DEVICE Words4 piece_of(const Quad& quad, const Shifts& shifts, int i) {
    return Loads::joined(quad.low[i % 2], shifts.low[i / 2], quad.high, shifts.high[i]);
  }
  /// What the centre of 16 codes adds to their dot product with x.
  static PLANEGATE_DEVICE int32_t centre(const Words4& x) {
    int32_t sum = 0;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) sum = simt::dp4a(kMinusCentre, x.w[i], sum);
    return sum;
  }

 private:
  static constexpr uint32_t kMinusCentre = static_cast<uint8_t>(-formats::kCentre) * 0x01010101u;
};

/// One byte of ql and one of qh for every code: the control arm's way.
struct ExpandBytewise {
  static constexpr const char* kName = "expanded from ql and qh, bytewise";

  template <class Layout, class Plane>
  static PLANEGATE_DEVICE Words4 piece(const Plane& plane, int64_t row, int64_t k) {
    Words4 codes;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int64_t at = k + 4 * i;
      codes.w[i] =
          simt::pack_bytes(code<Layout>(plane, row, at), code<Layout>(plane, row, at + 1),
                           code<Layout>(plane, row, at + 2), code<Layout>(plane, row, at + 3));
    }
    return codes;
  }

 private:
  template <class Layout, class Plane>
  static PLANEGATE_DEVICE uint32_t code(const Plane& plane, int64_t row, int64_t k) {
    const uint32_t low = plane.template bits<typename Layout::Ql>(row, k);
    const uint32_t high = plane.template bits<typename Layout::Qh>(row, k);
    return (low | high << 4) - static_cast<uint32_t>(formats::kCentre);
  }
};

/// One 16-byte load of ql and one of qh for 16 codes. @pre blocks start at 16-byte addresses.
struct Expand16 {
  static constexpr const char* kName = "expanded from ql and qh, 16-byte loads";

  template <class Layout, class Plane>
  static PLANEGATE_DEVICE Words4 piece(const Plane& plane, int64_t row, int64_t k) {
    static_assert(Layout::kAlignmentBytes % 16 == 0);
    using Ql = typename Layout::Ql;
    using Qh = typename Layout::Qh;
    const Words4 low = plane.template at<Ql>(row, k).template cast<const Words4>().load();
    const Words4 high = plane.template at<Qh>(row, k).template cast<const Words4>().load();
    const int low_shift = plane.template shift<Ql>(row, k);
    const int high_shift = plane.template shift<Qh>(row, k);
    return centred(joined(low, low_shift, high, high_shift));
  }

  /// Sixteen codes 0..63.
  static PLANEGATE_DEVICE Words4 joined(const Words4& low, int low_shift, const Words4& high,
                                        int high_shift) {
    Words4 codes;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      codes.w[i] = (low.w[i] >> low_shift & 0x0F0F0F0Fu) | (high.w[i] >> high_shift & 0x03030303u)
                                                               << 4;
    }
    return codes;
  }

  /// Codes 0..63, less 32 each, without borrows between them.
  static PLANEGATE_DEVICE Words4 centred(Words4 codes) {
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      codes.w[i] = ((codes.w[i] | 0x80808080u) - 0x20202020u) ^ 0x80808080u;
    }
    return codes;
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
