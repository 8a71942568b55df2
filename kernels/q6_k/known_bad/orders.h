#pragma once

#include "kernels/q6_k/known_bad/activation_addresses.h"

/// The right elements in the wrong order.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

struct SuperBlockHalvesSwapped : FlipK<128> {
  static constexpr const char* kWhy = "halves of a super-block swapped";
};
struct SuperBlockPairSwapped : FlipK<256> {
  static constexpr const char* kWhy = "super-blocks of a pair swapped";
};
/// Even rows are the first half of the rows, odd rows the second: gate and up interleaved.
struct GateUpInterleaved {
  static constexpr const char* kWhy = "gate and up rows interleaved";
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents& extents) {
    return {at.line % 2 * (extents.od / 2) + at.line / 2, at.k};
  }
};
/// Rows 0 4 1 5 2 6 3 7 of each eight.
struct RowsInterleavedByEight {
  static constexpr const char* kWhy = "rows of eight interleaved";
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents&) {
    return {(at.line & ~int64_t{7}) | (at.line & 1) << 2 | (at.line & 6) >> 1, at.k};
  }
};
struct NibblesSwapped : FlipK<64, Padded::Ql, Raw::Ql> {
  static constexpr const char* kWhy = "low and high nibble swapped";
};
struct PairsReversed : FlipK<96, Padded::Qh, Raw::Qh> {
  static constexpr const char* kWhy = "pairs of qh from the top";
};

/// The output with another index.
template <class Output_>
struct GemmOutput : GemmPolicies {
  using Output = Output_;
  static std::vector<Policy> policies() { return {{"output", Output::kWhy}}; }
};
struct TransposedOutput {
  static constexpr const char* kWhy = "y (od, nt)";
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t nt, int64_t od, int64_t token,
                                     int64_t row, float value) {
    if (token < nt && row < od) y.store(row * nt + token, value);
  }
};
/// A fragment's columns t and t+4 instead of 2t and 2t+1.
struct FragmentColumnsApart {
  static constexpr const char* kWhy = "fragment columns t and t+4";
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t nt, int64_t od, int64_t token,
                                     int64_t row, float value) {
    const int64_t to = (row & ~int64_t{7}) | (row & 1) << 2 | (row & 6) >> 1;
    if (token < nt && to < od) y.store(token * od + to, value);
  }
};

template <class Access, class Loads, class Staging>
using PaddedCodesThrough =
    KnownBad<GemmVariant<ExpandedCodes<Padded, Loads, Access>, DecodedScales<Padded>, Staging>>;

struct WExpHalvesSwapped : WExpThrough<Remapped<WExp, SuperBlockHalvesSwapped>, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+sb_halves_swapped";
};
struct WExpSuperBlocksSwapped : WExpThrough<Remapped<WExp, SuperBlockPairSwapped>, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+sb_pair_swapped";
};
struct WExpPiecesSwapped : WExpThrough<Remapped<WExp, HalvesSwapped>, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+pieces_swapped";
};
struct WExpGateUp : WExpThrough<Remapped<WExp, GateUpInterleaved>, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+gate_up_interleaved";
};
struct WExpInterleave8 : WExpThrough<Remapped<WExp, RowsInterleavedByEight>, Bytewise> {
  static constexpr const char* kName = "w_exp/bytewise+rows_interleaved_by_8";
};
struct WExpTransposed : WExpWith<CpAsync16, GemmOutput<TransposedOutput>> {
  static constexpr const char* kName = "w_exp/cp_async+y_transposed";
};
struct WExpFragmentColumns : WExpWith<Copy16, GemmOutput<FragmentColumnsApart>> {
  static constexpr const char* kName = "w_exp/copy16+fragment_columns";
};
struct PaddedNibbles : PaddedCodesThrough<Remapped<Padded, NibblesSwapped>, Expand16, CpAsync16> {
  static constexpr const char* kName = "padded/copy16+nibbles_swapped";
};
struct PaddedPairs : PaddedCodesThrough<Remapped<Padded, PairsReversed>, ExpandBytewise, Bytewise> {
  static constexpr const char* kName = "padded/bytewise+qh_pairs_reversed";
};
struct DecodeNibbles
    : KnownBad<DecodeVariant<ExpandedCodes<Padded, Expand16, Remapped<Padded, NibblesSwapped>>,
                             DecodedScales<Padded>>> {
  static constexpr const char* kName = "padded/decode+nibbles_swapped";
};
struct RawPairs
    : KnownBad<GemmVariant<ExpandedCodes<Raw, ExpandBytewise, Remapped<Raw, PairsReversed>>,
                           DecodedScales<Raw>, Copy16>> {
  static constexpr const char* kName = "raw/expand+qh_pairs_reversed";
};

using BadOrders = VariantList<WExpHalvesSwapped, WExpSuperBlocksSwapped, WExpPiecesSwapped,
                              WExpGateUp, WExpInterleave8, WExpTransposed, WExpFragmentColumns,
                              PaddedNibbles, PaddedPairs, DecodeNibbles, RawPairs>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
