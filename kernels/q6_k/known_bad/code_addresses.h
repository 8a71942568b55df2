#pragma once

#include "kernels/q6_k/known_bad/int32_offset.h"
#include "kernels/q6_k/known_bad/padded_address.h"
#include "kernels/q6_k/variants.h"

/// Codes read at wrong addresses: strides of another plane, of another shape, slices.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

struct SuperBlocksAtPaddedStride : WExp {
  static constexpr const char* kWhy = "super-blocks 224 bytes apart";
  struct Codes {
    static constexpr Field kField = w_exp_codes(formats::kPaddedBlockBytes, sizes::kId);
  };
  using Fields = FieldList<Codes>;
};
struct RowsAtPaddedStride : WExp {
  static constexpr const char* kWhy = "rows nsb*224 bytes apart";
  struct Codes {
    static constexpr Field kField =
        w_exp_codes(kSuperBlockElems, formats::kPaddedBlockBytes* sizes::kNsb);
  };
  using Fields = FieldList<Codes>;
};

/// A field of blocks with other strides, in bytes.
constexpr Field moved_blocks(Field field, int64_t block_stride, int64_t row_stride_per_block) {
  for (int i = 0; i < field.layout.n_modes; ++i) {
    Mode& mode = field.layout.modes[i];
    if (mode.axis == Axis::kRow) mode.stride_bits = 8 * row_stride_per_block * sizes::kNsb;
    if (mode.div == kSuperBlockElems) mode.stride_bits = {8 * block_stride};
  }
  return field;
}

/// The file's blocks, of `padded` or `raw`, with other strides.
template <int64_t kBlockStride, int64_t kRowStridePerBlock>
struct BlocksAt : Padded {
  static constexpr const char* kWhy = "other strides of blocks and rows";
  struct Ql {
    static constexpr Field kField =
        moved_blocks(Padded::Ql::kField, kBlockStride, kRowStridePerBlock);
  };
  struct Qh {
    static constexpr Field kField =
        moved_blocks(Padded::Qh::kField, kBlockStride, kRowStridePerBlock);
  };
  struct Sc {
    static constexpr Field kField =
        moved_blocks(Padded::Sc::kField, kBlockStride, kRowStridePerBlock);
  };
  struct D {
    static constexpr Field kField =
        moved_blocks(Padded::D::kField, kBlockStride, kRowStridePerBlock);
  };
  using Fields = FieldList<Ql, Qh, Sc, D>;
};
using PaddedAtRawStrides = BlocksAt<formats::kBlockBytes, formats::kBlockBytes>;
using PaddedAtRawRows = BlocksAt<formats::kPaddedBlockBytes, formats::kBlockBytes>;
using PaddedAtRawBlocks = BlocksAt<formats::kBlockBytes, formats::kPaddedBlockBytes>;

/// Tensor-parallel slices of two.
struct SliceOfHalf {
  static constexpr const char* kWhy = "whole plane with the row stride of a slice of half its k";
  static Shape shape(const Shape& shape) { return Shape(shape.od(), shape.id() / 2, shape.nt()); }
};
struct WholeOfSlice {
  static constexpr const char* kWhy = "slice with the strides of the whole tensor";
  static Shape shape(const Shape& shape) {
    return Shape(shape.range(Axis::kRow).parent, shape.range(Axis::kK).parent, shape.nt());
  }
};
struct SliceOriginAdded {
  static constexpr const char* kWhy = "origin of the slice added";
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents& extents) {
    return {at.line + extents.row_origin, at.k + extents.k_origin};
  }
};

template <class Access, class Staging>
using WExpThrough =
    KnownBad<GemmVariant<StoredCodes<WExp, Staging, Access>, DecodedScales<Raw>, Staging>>;
template <class View, class Staging>
using WExpMisread = WExpThrough<Misread<View, WExp>, Staging>;
template <class View>
using PaddedBytewiseMisread =
    KnownBad<GemmVariant<ExpandedCodes<Padded, ExpandBytewise, Misread<View, Padded>>,
                         DecodedScales<Padded>, Bytewise>>;
template <class View>
using PaddedCodes16 = ExpandedCodes<Padded, Expand16, Misread<View, Padded>>;

struct WExpBytewisePadded : WExpMisread<WExpAtPaddedStrides, Bytewise> {
  static constexpr const char* kName = "w_exp/bytewise+padded_address";
};
struct WExpCopy16Padded : WExpMisread<WExpAtPaddedStrides, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+padded_address";
};
struct WExpCpAsyncPadded : WExpMisread<WExpAtPaddedStrides, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+padded_address";
};
struct WExpSuperBlockStride : WExpMisread<SuperBlocksAtPaddedStride, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+sb_stride_224";
};
struct WExpRowStride : WExpMisread<RowsAtPaddedStride, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+row_stride_of_padded";
};
struct WExpSliceStride : WExpThrough<StridesOfShape<WExp, SliceOfHalf>, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+row_stride_of_slice";
};
struct WExpWholeStride : WExpThrough<StridesOfShape<WExp, WholeOfSlice>, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+row_stride_of_whole";
};
struct WExpOriginAdded : WExpThrough<Remapped<WExp, SliceOriginAdded>, Bytewise> {
  static constexpr const char* kName = "w_exp/bytewise+slice_origin_added";
};
struct PaddedRawStrides : PaddedBytewiseMisread<PaddedAtRawStrides> {
  static constexpr const char* kName = "padded/bytewise+raw_strides";
};
struct PaddedRawBlocks : PaddedBytewiseMisread<PaddedAtRawBlocks> {
  static constexpr const char* kName = "padded/bytewise+block_stride_210";
};
struct PaddedRawRows
    : KnownBad<GemmVariant<PaddedCodes16<PaddedAtRawRows>, DecodedScales<Padded>, CpAsync16>> {
  static constexpr const char* kName = "padded/copy16+row_stride_of_raw";
};
struct DecodeRawRows
    : KnownBad<DecodeVariant<PaddedCodes16<PaddedAtRawRows>, DecodedScales<Padded>>> {
  static constexpr const char* kName = "padded/decode+row_stride_of_raw";
};
struct RawPaddedStrides
    : KnownBad<GemmVariant<ExpandedCodes<Raw, ExpandBytewise, Misread<BlocksAt<224, 224>, Raw>>,
                           DecodedScales<Raw>, Copy16>> {
  static constexpr const char* kName = "raw/expand+padded_strides";
};

/// As w_exp/copy16, offsets cut to 32 bits.
struct WExpCopy16Int32
    : KnownBad<GemmVariant<Int32OffsetCodes<Copy16>, DecodedScales<Raw>, Copy16>> {
  static constexpr const char* kName = "w_exp/copy16+int32_offset";
};

using BadCodeAddresses =
    VariantList<WExpBytewisePadded, WExpCopy16Padded, WExpCpAsyncPadded, WExpSuperBlockStride,
                WExpRowStride, WExpSliceStride, WExpWholeStride, WExpOriginAdded, PaddedRawStrides,
                PaddedRawBlocks, PaddedRawRows, DecodeRawRows, RawPaddedStrides, WExpCopy16Int32>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
