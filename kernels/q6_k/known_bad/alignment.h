#pragma once

#include "kernels/q6_k/known_bad/scale_addresses.h"

/// 16-byte accesses to addresses that are not multiples of 16. Host only: on a GPU such an access
/// ends the context.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// Expand16 for a plane whose blocks lie at even addresses.
struct Expand16Anywhere {
  static constexpr const char* kName = "expanded by 16-byte loads wherever blocks lie";

  template <class Layout>
  struct CalledAligned : Layout {
    static constexpr int64_t kAlignmentBytes = 16;
  };
  template <class Layout, class Plane>
  static PLANEGATE_DEVICE Words4 piece(const Plane& plane, int64_t row, int64_t k) {
    return Expand16::piece<CalledAligned<Layout>>(plane, row, k);
  }
};
/// A cut of k inside a group of 16.
struct EightElementsOn : WExp {
  static constexpr const char* kWhy = "rows from element 8 on";
  struct Codes {
    static constexpr Field kField = w_exp_codes(kSuperBlockElems, sizes::kId, 8);
  };
  using Fields = FieldList<Codes>;
};

using RawCodes16 = ExpandedCodes<Raw, Expand16Anywhere>;

struct RawExpand16 : KnownBad<GemmVariant<RawCodes16, DecodedScales<Raw>, Copy16>> {
  static constexpr const char* kName = "raw/expand+16_byte_loads";
};
struct RawExpand16WDsc : KnownBad<GemmVariant<RawCodes16, StoredScales<Copy16>, Copy16>> {
  static constexpr const char* kName = "raw/expand+w_dsc+16_byte_loads";
};
struct WExpFromElement8 : WExpMisread<EightElementsOn, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+from_element_8";
};
struct WDscOddOd : WExpWDscThrough<Misread<ChunksAtOd, formats::WDsc>, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+w_dsc+od_for_od_even";
};

using BadAlignment = VariantList<RawExpand16, RawExpand16WDsc, WExpFromElement8, WDscOddOd>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
