#pragma once

#include "kernels/q6_k/known_bad/split_k.h"

/// The small-batch path with tokens and lanes mixed up.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

struct FirstTokenForAll {
  static constexpr const char* kWhy = "token 0 for all";
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents&) {
    return {0, at.k};
  }
};
struct FirstScaleForAll {
  static constexpr const char* kWhy = "d of token 0 for all";
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents&) {
    return {std::is_same_v<FieldTag, Pad40::D> ? 0 : at.line, at.k};
  }
};
/// A path of its own for two and three tokens, which takes them from the end.
struct TwoAndThreeReversed {
  static constexpr const char* kWhy = "two and three tokens taken from the end";
  template <class FieldTag>
  static PLANEGATE_DEVICE Place map(Place at, const Extents& extents) {
    const bool own_path = extents.nt == 2 || extents.nt == 3;
    return {own_path ? extents.nt - 1 - at.line : at.line, at.k};
  }
};

/// The butterfly from `kFirst` down to `kLast`.
template <int kFirst, int kLast>
struct ShortButterfly {
  static PLANEGATE_DEVICE float sum(float value) {
    for (int mask = kFirst; mask >= kLast; mask /= 2) value += simt::shuffle_xor(value, mask);
    return value;
  }
};
template <int kFirst, int kLast>
struct LanesAdded : DecodePolicies {
  using WarpSum = ShortButterfly<kFirst, kLast>;
  static std::vector<Policy> policies() {
    return {{"warp sum", "masks " + std::to_string(kFirst) + " to " + std::to_string(kLast)}};
  }
};

struct DecodeFirstToken : DecodeWith<Pad40Through<Remapped<Pad40, FirstTokenForAll>>> {
  static constexpr const char* kName = "padded/decode+token_0_for_all";
};
struct DecodeFirstScale : DecodeWith<Pad40Through<Remapped<Pad40, FirstScaleForAll>>> {
  static constexpr const char* kName = "padded/decode+d_of_token_0";
};
struct DecodeTwoAndThree : DecodeWith<Pad40Through<Remapped<Pad40, TwoAndThreeReversed>>> {
  static constexpr const char* kName = "padded/decode+two_tokens_reversed";
};
struct DecodeNoMask16 : DecodeWith<LanesAdded<8, 1>> {
  static constexpr const char* kName = "padded/decode+mask_16_missing";
};
struct DecodeNoMask1 : DecodeWith<LanesAdded<16, 2>> {
  static constexpr const char* kName = "padded/decode+mask_1_missing";
};

using BadSmallBatch = VariantList<DecodeFirstToken, DecodeFirstScale, DecodeTwoAndThree,
                                  DecodeNoMask16, DecodeNoMask1>;

using BadShapes = Joined<BadTails, BadSplitK, BadSmallBatch>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
