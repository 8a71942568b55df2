#pragma once

#include "kernels/q6_k/known_bad/code_addresses.h"

/// Weight scales read at wrong addresses.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// w_dsc with other strides of row and chunk, in bytes.
constexpr Field w_dsc_products(Size row_stride, Size chunk_stride) {
  return {"dsc",
          32,
          Encoding::kF32,
          0,
          0,
          {0,
           3,
           {{"sub", Axis::kK, formats::kSubBlockElems, {2}, formats::detail::bits(4)},
            formats::detail::row(row_stride),
            {"chunk", Axis::kK, 32, sizes::kChunks, formats::detail::bits(chunk_stride)}}}};
}
struct ChunksAtOd : formats::WDsc {
  static constexpr const char* kWhy = "w_dsc with od for od_even";
  struct Dsc {
    static constexpr Field kField = w_dsc_products({8}, 8 * sizes::kOd);
  };
  using Fields = FieldList<Dsc>;
};
struct RowMajor : formats::WDsc {
  static constexpr const char* kWhy = "w_dsc row-major";
  struct Dsc {
    static constexpr Field kField = w_dsc_products(8 * sizes::kChunks, {8});
  };
  using Fields = FieldList<Dsc>;
};
struct ChunksAtChunks : formats::WDsc {
  static constexpr const char* kWhy = "w_dsc with the chunk stride from the number of chunks";
  struct Dsc {
    static constexpr Field kField = w_dsc_products({8}, 8 * sizes::kChunks);
  };
  using Fields = FieldList<Dsc>;
};

/// Bits of k flipped, for the fields in `F` or for all.
template <int64_t kFlipped, class... F>
struct FlipK {
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents&) {
    constexpr bool ours = sizeof...(F) == 0 || (std::is_same_v<FieldTag, F> || ...);
    return {at.line, ours ? at.k ^ kFlipped : at.k};
  }
};
struct HalvesSwapped : FlipK<16> {
  static constexpr const char* kWhy = "halves of a chunk swapped";
};
struct ChunkPairSwapped : FlipK<32> {
  static constexpr const char* kWhy = "chunks of a pair swapped";
};
struct NextChunk {
  static constexpr const char* kWhy = "scale of the next chunk";
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents& extents) {
    return {at.line, at.k + 32 < extents.id ? at.k + 32 : at.k};
  }
};
struct DOfNeighbour : FlipK<256, Padded::D> {
  static constexpr const char* kWhy = "d of the neighbouring block";
};
struct ScHalvesSwapped : FlipK<16, Raw::Sc> {
  static constexpr const char* kWhy = "sc of the other half of a chunk";
};
struct ScPerChunk {
  static constexpr const char* kWhy = "one sc for 32 weights";
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents&) {
    return {at.line, std::is_same_v<FieldTag, Padded::Sc> ? at.k & ~int64_t{16} : at.k};
  }
};
/// d two bytes on, where the block's padding begins.
struct DFromPadding : Padded {
  static constexpr const char* kWhy = "d taken from the padding";
  struct D {
    static constexpr Field kField = [] {
      Field field = Padded::D::kField;
      field.layout.base_bits = 8 * formats::kBlockBytes;
      return field;
    }();
  };
  using Fields = FieldList<Padded::Sc, D>;
};

template <class Access, class Staging>
using WExpWDscThrough =
    KnownBad<GemmVariant<StoredCodes<WExp, Staging>, StoredScales<Staging, Access>, Staging>>;
template <class Access>
using DecodeWDscThrough =
    KnownBad<DecodeVariant<ExpandedCodes<Padded, Expand16>, StoredScales<Copy16, Access>>>;
template <class Loads, class Access, class Staging>
using PaddedScalesThrough =
    KnownBad<GemmVariant<ExpandedCodes<Padded, Loads>, DecodedScales<Padded, Access>, Staging>>;

struct WDscOdStride : WExpWDscThrough<Misread<ChunksAtOd, formats::WDsc>, Bytewise> {
  static constexpr const char* kName = "w_exp/bytewise+w_dsc+od_for_od_even";
};
struct WDscChunkStride : WExpWDscThrough<Misread<ChunksAtChunks, formats::WDsc>, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+w_dsc+chunk_stride";
};
struct WDscPairSwapped : WExpWDscThrough<Remapped<formats::WDsc, ChunkPairSwapped>, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+w_dsc+chunk_pair_swapped";
};
struct WDscWholeStride : WExpWDscThrough<StridesOfShape<formats::WDsc, WholeOfSlice>, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+w_dsc+stride_of_whole";
};
struct WDscRowMajor : DecodeWDscThrough<Misread<RowMajor, formats::WDsc>> {
  static constexpr const char* kName = "padded/decode+w_dsc+row_major";
};
struct WDscHalvesSwapped : DecodeWDscThrough<Remapped<formats::WDsc, HalvesSwapped>> {
  static constexpr const char* kName = "padded/decode+w_dsc+halves_swapped";
};
struct WDscNextChunk : DecodeWDscThrough<Remapped<formats::WDsc, NextChunk>> {
  static constexpr const char* kName = "padded/decode+w_dsc+next_chunk";
};
struct PaddedScalesAtRawStrides
    : PaddedScalesThrough<ExpandBytewise, Misread<PaddedAtRawStrides, Padded>, Bytewise> {
  static constexpr const char* kName = "padded/bytewise+scales_at_raw_strides";
};
struct PaddedDOfNeighbour
    : PaddedScalesThrough<Expand16, Remapped<Padded, DOfNeighbour>, CpAsync16> {
  static constexpr const char* kName = "padded/copy16+d_of_neighbour";
};
struct PaddedScPerChunk : PaddedScalesThrough<Expand16, Remapped<Padded, ScPerChunk>, CpAsync16> {
  static constexpr const char* kName = "padded/copy16+sc_per_chunk";
};
struct PaddedDFromPadding
    : PaddedScalesThrough<Expand16, Misread<DFromPadding, Padded>, CpAsync16> {
  static constexpr const char* kName = "padded/copy16+d_from_padding";
};
struct RawScHalvesSwapped
    : KnownBad<GemmVariant<ExpandedCodes<Raw, ExpandBytewise>,
                           DecodedScales<Raw, Remapped<Raw, ScHalvesSwapped>>, Copy16>> {
  static constexpr const char* kName = "raw/expand+sc_halves_swapped";
};

using BadScaleAddresses =
    VariantList<WDscOdStride, WDscChunkStride, WDscPairSwapped, WDscWholeStride, WDscRowMajor,
                WDscHalvesSwapped, WDscNextChunk, PaddedScalesAtRawStrides, PaddedDOfNeighbour,
                PaddedScPerChunk, PaddedDFromPadding, RawScHalvesSwapped>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
