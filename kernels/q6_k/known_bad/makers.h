#pragma once

#include "kernels/q6_k/make_planes.h"

/// Transforms on the device that are wrong on purpose.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

struct MakesFromPadded : MakePolicies {
  using Source = formats::Padded;
  static constexpr int kBlockBytes = formats::kPaddedBlockBytes;
};
struct MakesUncentred : MakePolicies {
  static PLANEGATE_DEVICE Words4 centred(const Words4& codes) { return codes; }
};
struct MakesBeyond : MakePolicies {
  static PLANEGATE_DEVICE bool covers(int64_t, int64_t) { return true; }
};
struct MakesUnwaited : MakePolicies {
  static PLANEGATE_DEVICE void arrived() { simt::sync_threads(); }
};
struct MakesNoPadRow : MakePolicies {
  static PLANEGATE_DEVICE int64_t rows(int64_t od) { return od; }
};
struct MakesUnsynced : MakePolicies {
  static PLANEGATE_DEVICE void stored() {}
};

struct WExpFromPadded : MakeWExp<MakesFromPadded> {
  static constexpr const char* kName = "w_exp from raw+blocks_of_padded";
};
struct WExpUncentred : MakeWExp<MakesUncentred> {
  static constexpr const char* kName = "w_exp from raw+uncentred";
};
struct WExpBeyond : MakeWExp<MakesBeyond> {
  static constexpr const char* kName = "w_exp from raw+tail_unmasked";
};
struct WExpUnwaited : MakeWExp<MakesUnwaited> {
  static constexpr const char* kName = "w_exp from raw+no_wait";
};
struct WDscFromPadded : MakeWDsc<MakesFromPadded> {
  static constexpr const char* kName = "w_dsc from raw+blocks_of_padded";
};
struct WDscBeyond : MakeWDsc<MakesBeyond> {
  static constexpr const char* kName = "w_dsc from raw+rows_unmasked";
};
struct WDscNoPadRow : MakeWDsc<MakesNoPadRow> {
  static constexpr const char* kName = "w_dsc from raw+no_pad_row";
};
struct WDscUnsynced : MakeWDsc<MakesUnsynced> {
  static constexpr const char* kName = "w_dsc from raw+no_barrier";
};
using BadMakers = MakerList<WExpFromPadded, WExpUncentred, WExpBeyond, WExpUnwaited, WDscFromPadded,
                            WDscBeyond, WDscNoPadRow, WDscUnsynced>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
