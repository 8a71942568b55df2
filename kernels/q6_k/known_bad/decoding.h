#pragma once

#include "kernels/q6_k/known_bad/orders.h"

/// Values decoded wrongly from the right bytes.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// The four codes of a word, each changed by `Change::code`.
template <class Change>
PLANEGATE_DEVICE uint32_t changed_codes(uint32_t word) {
  uint32_t changed = 0;
  for (int i = 0; i < 4; ++i) {
    const int code = Change::code(static_cast<int8_t>(word >> 8 * i));
    changed |= (static_cast<uint32_t>(code) & 0xFFu) << 8 * i;
  }
  return changed;
}

/// A change of centred codes, made to codes 0..63.
template <class Change>
struct Uncentred {
  static PLANEGATE_DEVICE int code(int code) { return Change::code(code - 32) + 32; }
};
/// `Loads` of ExpandedCodes with every centred code changed.
template <class Loads, class Change>
struct ChangedLoads {
  static constexpr const char* kName = Change::kWhy;

  template <class Layout, class Plane>
  static PLANEGATE_DEVICE Words4 piece(const Plane& plane, int64_t row, int64_t k) {
    Words4 codes = Loads::template piece<Layout>(plane, row, k);
    for (int i = 0; i < 4; ++i) codes.w[i] = changed_codes<Change>(codes.w[i]);
    return codes;
  }
  static PLANEGATE_DEVICE Words4 joined(const Words4& low, int low_shift, const Words4& high,
                                        int high_shift) {
    Words4 codes = Loads::joined(low, low_shift, high, high_shift);
    for (int i = 0; i < 4; ++i) codes.w[i] = changed_codes<Uncentred<Change>>(codes.w[i]);
    return codes;
  }
};
/// Copy16 for stored codes with every code changed.
template <class Change>
struct ChangedCopy16 {
  static constexpr const char* kName = Change::kWhy;
  static constexpr const char* kTail = Copy16::kTail;

  static PLANEGATE_DEVICE void copy(SharedPtr<Words4> to, GlobalPtr<const std::byte> from,
                                    bool valid) {
    Words4 piece = {};
    if (valid) piece = from.cast<const Words4>().load();
    for (int i = 0; i < 4; ++i) piece.w[i] = changed_codes<Change>(piece.w[i]);
    to.store(0, piece);
  }
};

struct CentredAt31 {
  static constexpr const char* kWhy = "codes centred at 31";
  static PLANEGATE_DEVICE int code(int code) { return code + 1; }
};
struct NotCentred {
  static constexpr const char* kWhy = "codes not centred";
  static PLANEGATE_DEVICE int code(int code) { return code + 32; }
};
struct CentreMinusCode {
  static constexpr const char* kWhy = "32 - q for q - 32";
  static PLANEGATE_DEVICE int code(int code) { return -code; }
};
struct SymmetricRange {
  static constexpr const char* kWhy = "code -32 saturates at -31";
  static PLANEGATE_DEVICE int code(int code) { return code < -31 ? -31 : code; }
};
struct FiveBits {
  static constexpr const char* kWhy = "top bit of the code lost";
  static PLANEGATE_DEVICE int code(int code) { return ((code + 32) & 31) - 32; }
};
struct SignLost {
  static constexpr const char* kWhy = "stored code without sign extension";
  static PLANEGATE_DEVICE int code(int code) { return code & 0x3F; }
};
struct ShiftedSaturates {
  static constexpr const char* kWhy = "code times four saturates at 7 bits";
  static PLANEGATE_DEVICE int code(int code) { return code > 30 ? 30 : code; }
};

struct UnsignedSc {
  static constexpr const char* kName = "d*sc with sc as uint8";
  static PLANEGATE_DEVICE float scale(uint32_t d_bits, uint32_t sc_bits) {
    return simt::half_to_float(d_bits) * static_cast<float>(sc_bits);
  }
};
struct UnsignedD {
  static constexpr const char* kName = "d*sc without the sign of d";
  static PLANEGATE_DEVICE float scale(uint32_t d_bits, uint32_t sc_bits) {
    return ExactProduct::scale(d_bits & 0x7FFFu, sc_bits);
  }
};
struct FlushedD {
  static constexpr const char* kName = "d*sc with subnormal d flushed";
  static PLANEGATE_DEVICE float scale(uint32_t d_bits, uint32_t sc_bits) {
    return (d_bits & 0x7C00u) == 0 ? 0.0f : ExactProduct::scale(d_bits, sc_bits);
  }
};
/// The product cut to the 11 significant bits of an f16.
struct ProductInHalf {
  static constexpr const char* kName = "d*sc kept in 11 bits";
  static PLANEGATE_DEVICE float scale(uint32_t d_bits, uint32_t sc_bits) {
    float product = ExactProduct::scale(d_bits, sc_bits);
    uint32_t word;
    memcpy(&word, &product, sizeof word);
    word &= 0xFFFFE000u;
    memcpy(&product, &word, sizeof word);
    return product;
  }
};
struct ScAbove127Lost {
  static constexpr const char* kName = "d*sc with sc -128 as -127";
  static PLANEGATE_DEVICE float scale(uint32_t d_bits, uint32_t sc_bits) {
    return ExactProduct::scale(d_bits, (sc_bits & 0xFFu) == 0x80u ? 0x81u : sc_bits);
  }
};

struct SymmetricActivations {
  static constexpr const char* kWhy = "activation code -128 as -127";
  static PLANEGATE_DEVICE int code(int code) { return code < -127 ? -127 : code; }
};
struct UnsignedActivations {
  static constexpr const char* kWhy = "activation codes without their top bit";
  static PLANEGATE_DEVICE int code(int code) { return code & 0x7F; }
};
template <class Change>
struct ChangedActivations : DecodePolicies {
  struct ActDecode {
    static PLANEGATE_DEVICE uint32_t codes(uint32_t word) { return changed_codes<Change>(word); }
  };
  static std::vector<Policy> policies() { return {{"activation decoding", Change::kWhy}}; }
};

template <class Change>
using RawChanged = KnownBad<GemmVariant<ExpandedCodes<Raw, ChangedLoads<ExpandBytewise, Change>>,
                                        DecodedScales<Raw>, Copy16>>;
template <class Change>
using PaddedChanged = KnownBad<GemmVariant<ExpandedCodes<Padded, ChangedLoads<Expand16, Change>>,
                                           DecodedScales<Padded>, CpAsync16>>;
template <class Product>
using PaddedProduct =
    KnownBad<GemmVariant<ExpandedCodes<Padded, ExpandBytewise>,
                         DecodedScales<Padded, OwnLayout<Padded>, Product>, Bytewise>>;

struct RawCentre31 : RawChanged<CentredAt31> {
  static constexpr const char* kName = "raw/expand+centre_31";
};
struct RawNotCentred : RawChanged<NotCentred> {
  static constexpr const char* kName = "raw/expand+not_centred";
};
struct PaddedWrongSign : PaddedChanged<CentreMinusCode> {
  static constexpr const char* kName = "padded/copy16+centre_minus_code";
};
struct PaddedSymmetric : PaddedChanged<SymmetricRange> {
  static constexpr const char* kName = "padded/copy16+code_saturates";
};
struct PaddedFiveBits : PaddedChanged<FiveBits> {
  static constexpr const char* kName = "padded/copy16+five_bits";
};
struct DecodeSaturates
    : KnownBad<DecodeVariant<ExpandedCodes<Padded, ChangedLoads<Expand16, ShiftedSaturates>>,
                             DecodedScales<Padded>>> {
  static constexpr const char* kName = "padded/decode+code_saturates";
};
struct WExpSignLost
    : KnownBad<
          GemmVariant<StoredCodes<WExp, ChangedCopy16<SignLost>>, DecodedScales<Raw>, Copy16>> {
  static constexpr const char* kName = "w_exp/copy16+sign_lost";
};
struct PaddedUnsignedSc : PaddedProduct<UnsignedSc> {
  static constexpr const char* kName = "padded/bytewise+sc_unsigned";
};
struct PaddedUnsignedD : PaddedProduct<UnsignedD> {
  static constexpr const char* kName = "padded/bytewise+d_sign_lost";
};
struct PaddedFlushedD : PaddedProduct<FlushedD> {
  static constexpr const char* kName = "padded/bytewise+d_flushed";
};
struct PaddedProductInHalf : PaddedProduct<ProductInHalf> {
  static constexpr const char* kName = "padded/bytewise+product_in_half";
};
struct PaddedSc128 : PaddedProduct<ScAbove127Lost> {
  static constexpr const char* kName = "padded/bytewise+sc_saturates";
};
struct DecodeAct128 : DecodeWith<ChangedActivations<SymmetricActivations>> {
  static constexpr const char* kName = "padded/decode+activation_saturates";
};
struct DecodeActUnsigned : DecodeWith<ChangedActivations<UnsignedActivations>> {
  static constexpr const char* kName = "padded/decode+activation_sign_lost";
};

using BadDecoding =
    VariantList<RawCentre31, RawNotCentred, PaddedWrongSign, PaddedSymmetric, PaddedFiveBits,
                DecodeSaturates, WExpSignLost, PaddedUnsignedSc, PaddedUnsignedD, PaddedFlushedD,
                PaddedProductInHalf, PaddedSc128, DecodeAct128, DecodeActUnsigned>;

using BadValues = Joined<BadOrders, BadDecoding>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
