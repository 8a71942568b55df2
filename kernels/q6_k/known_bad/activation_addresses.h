#pragma once

#include "kernels/q6_k/known_bad/scale_addresses.h"

/// Activations read at wrong addresses.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// qa8 with another swizzle.
constexpr Field qa8_codes(Swizzle swizzle) {
  Field field = Qa8::Codes::kField;
  field.layout.swizzle = swizzle;
  return field;
}
struct Unswizzled : Qa8 {
  static constexpr const char* kWhy = "qa8 without its swizzle";
  struct Codes {
    static constexpr Field kField = qa8_codes({});
  };
  using Fields = FieldList<Codes>;
};
struct SwizzledByShift4 : Qa8 {
  static constexpr const char* kWhy = "qa8 with swizzle <3,4,4>";
  struct Codes {
    static constexpr Field kField = qa8_codes({3, 4, 4});
  };
  using Fields = FieldList<Codes>;
};
struct TilesHalfApart : Qa8 {
  static constexpr const char* kWhy = "token tiles of qa8 half as far apart";
  struct Codes {
    static constexpr Field kField = [] {
      Field field = Qa8::Codes::kField;
      field.layout.modes[field.layout.n_modes - 1].stride_bits = 8 * 1024 * sizes::kChunks;
      return field;
    }();
  };
  using Fields = FieldList<Codes>;
};
struct LinearScales : Sda {
  static constexpr const char* kWhy = "sda read linearly";
  struct D {
    static constexpr Field kField = {
        "d",
        16,
        Encoding::kF16,
        0,
        0,
        {0,
         3,
         {{"token", Axis::kToken, 1, {kTokenTileTokens}, {8 * 4}},
          planegate::q8_act::detail::chunk(planegate::q8_act::kSdaTileBytes),
          planegate::q8_act::detail::tile(planegate::q8_act::kSdaTileBytes)}}};
  };
  using Fields = FieldList<D>;
};
/// A field of pad40 in chunks of 36 bytes: the padding left out, the sum cut to 16 bits.
constexpr Field in_36_bytes(Field field) {
  for (int i = 0; i < field.layout.n_modes; ++i) {
    Mode& mode = field.layout.modes[i];
    if (mode.axis == Axis::kToken) mode.stride_bits = 8 * 36 * sizes::kChunks;
    if (mode.div == 32) mode.stride_bits = {8 * 36};
  }
  return field;
}
struct UnpaddedChunks : Pad40 {
  static constexpr const char* kWhy = "pad40 as 36-byte chunks";
  struct D {
    static constexpr Field kField = in_36_bytes(Pad40::D::kField);
  };
  struct Codes {
    static constexpr Field kField = in_36_bytes(Pad40::Codes::kField);
  };
  using Fields = FieldList<D, Codes>;
};
struct DOfOtherChunk : FlipK<32, Pad40::D> {
  static constexpr const char* kWhy = "d of the other chunk of a pair";
};

template <class CodesAccess, class ScalesAccess = OwnLayout<Sda>>
struct ActivationsThrough : GemmPolicies {
  using ActCodes = CodesAccess;
  using ActScales = ScalesAccess;
  static std::vector<Policy> policies() {
    const std::string name = std::is_same_v<CodesAccess, OwnLayout<Qa8>>
                                 ? ActScales::text(ActScales::Layout::D::kField)
                                 : ActCodes::text(ActCodes::Layout::Codes::kField);
    return {{"activation address", name}};
  }
};
template <class Access>
struct Pad40Through : DecodePolicies {
  using Activations = Access;
  static std::vector<Policy> policies() {
    return {{"activation address", Access::text(Access::Layout::Codes::kField)}};
  }
};

/// w_exp/bytewise, /copy16 or /cp_async with other policies of the GEMM.
template <class Staging, class Policies>
using WExpWith =
    KnownBad<GemmVariant<StoredCodes<WExp, Staging>, DecodedScales<Raw>, Staging, 1, Policies>>;
/// padded/decode with other policies.
template <class Policies>
using DecodeWith =
    KnownBad<DecodeVariant<ExpandedCodes<Padded, Expand16>, DecodedScales<Padded>, Policies>>;

struct Qa8Unswizzled : WExpWith<CpAsync16, ActivationsThrough<Misread<Unswizzled, Qa8>>> {
  static constexpr const char* kName = "w_exp/cp_async+qa8_unswizzled";
};
struct Qa8OtherShift : WExpWith<Copy16, ActivationsThrough<Misread<SwizzledByShift4, Qa8>>> {
  static constexpr const char* kName = "w_exp/copy16+qa8_swizzle_shift";
};
struct Qa8TileStride : WExpWith<CpAsync16, ActivationsThrough<Misread<TilesHalfApart, Qa8>>> {
  static constexpr const char* kName = "w_exp/cp_async+qa8_tile_stride";
};
struct SdaLinear
    : WExpWith<Bytewise, ActivationsThrough<OwnLayout<Qa8>, Misread<LinearScales, Sda>>> {
  static constexpr const char* kName = "w_exp/bytewise+sda_linear";
};
struct Pad40Unpadded : DecodeWith<Pad40Through<Misread<UnpaddedChunks, Pad40>>> {
  static constexpr const char* kName = "padded/decode+pad40_unpadded";
};
struct Pad40DOfOtherChunk : DecodeWith<Pad40Through<Remapped<Pad40, DOfOtherChunk>>> {
  static constexpr const char* kName = "padded/decode+d_of_other_chunk";
};

using BadActivationAddresses = VariantList<Qa8Unswizzled, Qa8OtherShift, Qa8TileStride, SdaLinear,
                                           Pad40Unpadded, Pad40DOfOtherChunk>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
