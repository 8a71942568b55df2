#pragma once

#include "kernels/q6_k/known_bad/misread.h"
#include "kernels/q6_k/variant.h"

/// The bug that the project exists for, planted: w_exp read with the strides of `padded`.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// The codes of w_exp with other strides of super-block and row, in bytes.
constexpr Field w_exp_codes(int64_t super_block_stride, Size row_stride, int64_t base = 0) {
  return {"codes",
          8,
          Encoding::kSigned,
          -formats::kCentre,
          formats::kCentre - 1,
          {8 * base,
           3,
           {{"k", Axis::kK, 1, {kSuperBlockElems}, formats::detail::bits(1)},
            formats::detail::super_block(super_block_stride),
            formats::detail::row(row_stride)}}};
}

/// The dense codes' contract with the block and row strides of `padded`: j*(nsb*224) + sb*224 + e.
/// Its highest byte stays inside w_exp for every shape, and every byte there is a legal code.
struct WExpAtPaddedStrides : formats::WExp {
  static constexpr const char* kWhy = "padded expression";
  struct Codes {
    static constexpr Field kField =
        w_exp_codes(formats::kPaddedBlockBytes, formats::kPaddedBlockBytes* sizes::kNsb);
  };
  using Fields = FieldList<Codes>;
};

/// StoredCodes of w_exp read as if written under `View`.
template <class View, class Staging>
using MisreadCodes = StoredCodes<formats::WExp, Staging, Misread<View, formats::WExp>>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
