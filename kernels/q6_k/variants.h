#pragma once

#include "kernels/q6_k/variant.h"

/// The consumers of q6_K, each a list of policies. A new one is a struct here and its name in
/// `Variants`.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using formats::Padded;
using formats::Raw;
using formats::WExp;

/// The control arm: raw blocks, expanded bytewise in the kernel.
struct RawExpand : GemmVariant<ExpandedCodes<Raw, ExpandBytewise>, DecodedScales<Raw>, Copy16> {
  static constexpr const char* kName = "raw/expand";
  static constexpr int kRank = 90;
};
struct RawExpandWDsc
    : GemmVariant<ExpandedCodes<Raw, ExpandBytewise>, StoredScales<Copy16>, Copy16> {
  static constexpr const char* kName = "raw/expand+w_dsc";
  static constexpr int kRank = 80;
};
struct PaddedBytewise
    : GemmVariant<ExpandedCodes<Padded, ExpandBytewise>, DecodedScales<Padded>, Bytewise> {
  static constexpr const char* kName = "padded/bytewise";
  static constexpr int kRank = 71;
};
struct PaddedBytewiseWDsc
    : GemmVariant<ExpandedCodes<Padded, ExpandBytewise>, StoredScales<Bytewise>, Bytewise> {
  static constexpr const char* kName = "padded/bytewise+w_dsc";
  static constexpr int kRank = 70;
};
struct PaddedCopy16
    : GemmVariant<ExpandedCodes<Padded, Expand16>, DecodedScales<Padded>, CpAsync16> {
  static constexpr const char* kName = "padded/copy16";
  static constexpr int kRank = 61;
};
struct PaddedCopy16WDsc
    : GemmVariant<ExpandedCodes<Padded, Expand16>, StoredScales<CpAsync16>, CpAsync16> {
  static constexpr const char* kName = "padded/copy16+w_dsc";
  static constexpr int kRank = 60;
};
struct WExpBytewise : GemmVariant<StoredCodes<WExp, Bytewise>, DecodedScales<Raw>, Bytewise> {
  static constexpr const char* kName = "w_exp/bytewise";
  static constexpr int kRank = 51;
};
struct WExpBytewiseWDsc
    : GemmVariant<StoredCodes<WExp, Bytewise>, StoredScales<Bytewise>, Bytewise> {
  static constexpr const char* kName = "w_exp/bytewise+w_dsc";
  static constexpr int kRank = 50;
};
struct WExpCopy16 : GemmVariant<StoredCodes<WExp, Copy16>, DecodedScales<Raw>, Copy16> {
  static constexpr const char* kName = "w_exp/copy16";
  static constexpr int kRank = 41;
};
struct WExpCopy16WDsc : GemmVariant<StoredCodes<WExp, Copy16>, StoredScales<Copy16>, Copy16> {
  static constexpr const char* kName = "w_exp/copy16+w_dsc";
  static constexpr int kRank = 40;
};
struct WExpCpAsync : GemmVariant<StoredCodes<WExp, CpAsync16>, DecodedScales<Raw>, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async";
  static constexpr int kRank = 31;
};
struct WExpCpAsyncWDsc
    : GemmVariant<StoredCodes<WExp, CpAsync16>, StoredScales<CpAsync16>, CpAsync16> {
  static constexpr const char* kName = "w_exp/cp_async+w_dsc";
  static constexpr int kRank = 30;
};
/// Split K for few tokens and many k: partial sums in scratch memory, added in a fixed order.
struct WExpSplitK
    : GemmVariant<StoredCodes<WExp, CpAsync16>, StoredScales<CpAsync16>, CpAsync16, 4> {
  static constexpr const char* kName = "w_exp/split_k";
  static constexpr int kRank = 32;
};
/// f16 tensor cores, weights widened in registers.
struct WExpF16 : HalfVariant<StoredCodes<WExp, CpAsync16>, BlockScales<Padded, CpAsync16>, 128> {
  static constexpr const char* kName = "w_exp/f16";
  static constexpr int kRank = 21;
};
/// Of a tile twice as wide: a product costs half the conversions, and fewer bytes of shared memory.
struct WExpF16Wide
    : HalfVariant<StoredCodes<WExp, CpAsync16>, BlockScales<Padded, CpAsync16>, 256> {
  static constexpr const char* kName = "w_exp/f16_wide";
  static constexpr int kRank = 20;
};
/// The small-batch path, 1 to 8 tokens.
struct PaddedDecode : DecodeVariant<ExpandedCodes<Padded, Expand16>, DecodedScales<Padded>> {
  static constexpr const char* kName = "padded/decode";
  static constexpr int kRank = 10;
};

struct PaddedDecodeWDsc : DecodeVariant<ExpandedCodes<Padded, Expand16>, StoredScales<Copy16>> {
  static constexpr const char* kName = "padded/decode+w_dsc";
  static constexpr int kRank = 11;
};

template <class... V>
struct VariantList {};

template <class... Lists>
struct JoinedLists;
template <class... V>
struct JoinedLists<VariantList<V...>> {
  using List = VariantList<V...>;
};
template <class... V, class... W, class... Rest>
struct JoinedLists<VariantList<V...>, VariantList<W...>, Rest...>
    : JoinedLists<VariantList<V..., W...>, Rest...> {};
/// One list of several.
template <class... Lists>
using Joined = typename JoinedLists<Lists...>::List;

using Variants = VariantList<RawExpand, RawExpandWDsc, PaddedBytewise, PaddedBytewiseWDsc,
                             PaddedCopy16, PaddedCopy16WDsc, WExpBytewise, WExpBytewiseWDsc,
                             WExpCopy16, WExpCopy16WDsc, WExpCpAsync, WExpCpAsyncWDsc, WExpSplitK,
                             WExpF16, WExpF16Wide, PaddedDecode, PaddedDecodeWDsc>;

/// The launches of a list, in its order.
template <class... V>
std::vector<LaunchFn> launches(VariantList<V...>) {
  return {&launch<V>...};
}
template <class... Kernel>
std::string architecture_of(simt::KernelList<Kernel...>) {
  std::string only;
  const auto add = [&]<class K>(K*) {
    if constexpr (requires { K::kArchitecture; }) only = K::kArchitecture;
  };
  (add(static_cast<Kernel*>(nullptr)), ...);
  return only;
}
/// The architecture without which none of a variant's kernels is of use; empty: any.
template <class... V>
std::vector<std::string> architectures(VariantList<V...>) {
  return {architecture_of(typename V::Kernels{})...};
}
template <class... V>
std::vector<ConsumerSpec> described(VariantList<V...>) {
  return {V::described(V::kName, V::kRank)...};
}

}  // namespace PLANEGATE_SIMT_ABI

std::vector<LaunchFn> cuda_launches();
/// Of each variant, in the order of `Variants`.
std::vector<std::vector<KernelEntry>> cuda_kernels();

}  // namespace planegate::kernels::q6_k
