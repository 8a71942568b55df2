#pragma once

#include "kernels/q6_k/variant.h"

/// The bug that the project exists for, planted: w_exp read with the strides of `padded`.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// The dense codes' contract with the block and row strides of `padded`: j*(nsb*224) + sb*224 + e.
/// Its highest byte stays inside w_exp for every shape, and every byte there is a legal code.
struct WExpAtPaddedStrides : formats::WExp {
  struct Codes {
    static constexpr Field kField = {
        "codes",
        8,
        Encoding::kSigned,
        -formats::kCentre,
        formats::kCentre - 1,
        {0,
         3,
         {{"k", Axis::kK, 1, {kSuperBlockElems}, formats::detail::bits(1)},
          formats::detail::super_block(formats::kPaddedBlockBytes),
          formats::detail::row(formats::kPaddedBlockBytes* sizes::kNsb)}}};
  };
  using Fields = FieldList<Codes>;
};

/// StoredCodes of w_exp with exactly one policy replaced: the code address.
template <class Staging>
struct PaddedAddressCodes : StoredCodes<WExpAtPaddedStrides, Staging> {
  using Contract = formats::WExp;

  static PlanePtr<WExpAtPaddedStrides> bind(const LaunchRequest& request, simt::Binder& binder) {
    return simt::misbind_plane<WExpAtPaddedStrides, formats::WExp>(request, binder);
  }
  static FieldUse reads() { return StoredCodes<formats::WExp, Staging>::reads(); }
  static std::vector<Policy> policies() {
    std::vector<Policy> policies = StoredCodes<formats::WExp, Staging>::policies();
    policies.front().name = "padded expression: " + text(WExpAtPaddedStrides::Codes::kField.layout);
    return policies;
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
