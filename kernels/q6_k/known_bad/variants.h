#pragma once

#include "kernels/q6_k/known_bad/int32_offset.h"
#include "kernels/q6_k/known_bad/padded_address.h"
#include "kernels/q6_k/variants.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

template <class Staging>
using PaddedAddressVariant = GemmVariant<PaddedAddressCodes<Staging>, DecodedScales<Raw>, Staging>;

/// As w_exp/bytewise, w_exp/copy16 and w_exp/cp_async, each with one policy replaced.
struct WExpBytewisePadded : PaddedAddressVariant<Bytewise> {
  static constexpr const char* kName = "w_exp/bytewise+padded_address";
  static constexpr int kRank = 99;
};
struct WExpCopy16Padded : PaddedAddressVariant<Copy16> {
  static constexpr const char* kName = "w_exp/copy16+padded_address";
  static constexpr int kRank = 99;
};
struct WExpCpAsyncPadded : PaddedAddressVariant<CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+padded_address";
  static constexpr int kRank = 99;
};

/// As w_exp/copy16, offsets cut to 32 bits.
struct WExpCopy16Int32 : GemmVariant<Int32OffsetCodes<Copy16>, DecodedScales<Raw>, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+int32_offset";
  static constexpr int kRank = 99;
};

using KnownBadVariants =
    VariantList<WExpBytewisePadded, WExpCopy16Padded, WExpCpAsyncPadded, WExpCopy16Int32>;

}  // namespace PLANEGATE_SIMT_ABI

std::vector<LaunchFn> known_bad_cuda_launches();

}  // namespace planegate::kernels::q6_k
