#pragma once

#include "kernels/q6_k/known_bad/orders.h"

/// Tails of rows, tokens and k, and memory that nobody wrote.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

struct RowsUnmasked {
  static constexpr const char* kWhy = "rows beyond od written";
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t nt, int64_t od, int64_t token,
                                     int64_t row, float value) {
    if (token < nt) y.store(token * od + row, value);
  }
};
struct TokensUnmasked {
  static constexpr const char* kWhy = "tokens beyond nt written";
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t, int64_t od, int64_t token,
                                     int64_t row, float value) {
    if (row < od) y.store(token * od + row, value);
  }
};
struct LastRowSkipped {
  static constexpr const char* kWhy = "last row not written";
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t nt, int64_t od, int64_t token,
                                     int64_t row, float value) {
    if (token < nt && row + 1 < od) y.store(token * od + row, value);
  }
};
struct PaddedOutputRows {
  static constexpr const char* kWhy = "rows of y padded to even od";
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t nt, int64_t od, int64_t token,
                                     int64_t row, float value) {
    if (token < nt && row < od) y.store(token * (od + od % 2) + row, value);
  }
};
/// beta * y + value with beta = 0: what y held before meets the arithmetic.
struct ZeroTimesOutput {
  static constexpr const char* kWhy = "zero times the old y added";
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t nt, int64_t od, int64_t token,
                                     int64_t row, float value) {
    if (token >= nt || row >= od) return;
    y.store(token * od + row, value + 0.0f * y.load(token * od + row));
  }
};
struct AddedToOutput {
  static constexpr const char* kWhy = "added to the old y";
  static PLANEGATE_DEVICE void store(GlobalPtr<float> y, int64_t nt, int64_t od, int64_t token,
                                     int64_t row, float value) {
    if (token >= nt || row >= od) return;
    y.store(token * od + row, value + y.load(token * od + row));
  }
};

template <class Parts_>
struct StepsOf : GemmPolicies {
  using Parts = Parts_;
  static std::vector<Policy> policies() { return {{"steps of k", Parts::kWhy}}; }
};
struct LastStepSkipped : EvenParts {
  static constexpr const char* kWhy = "last step of k skipped";
  static PLANEGATE_DEVICE int end(int steps, int split, int splits) {
    return EvenParts::end(steps, split, splits) - 1;
  }
};
struct FirstStepSkipped : EvenParts {
  static constexpr const char* kWhy = "first step of k skipped";
  static PLANEGATE_DEVICE int begin(int steps, int split, int splits) {
    return EvenParts::begin(steps, split, splits) + 1;
  }
};
struct StepTooMany : EvenParts {
  static constexpr const char* kWhy = "one step of k too many";
  static PLANEGATE_DEVICE int end(int steps, int split, int splits) {
    return EvenParts::end(steps, split, splits) + 1;
  }
};

/// Codes and scales whose tail rows are read like any other.
template <class Codes>
struct TailRowsRead : Codes {
  static std::vector<Policy> policies() {
    std::vector<Policy> policies = Codes::policies();
    policies.back().name = "read beyond the plane";
    return policies;
  }
  static PLANEGATE_DEVICE void stage(SharedPtr<Words4> to, const typename Codes::Plane& plane,
                                     int64_t row, int64_t k, bool) {
    Codes::stage(to, plane, row, k, true);
  }
};
template <class Scales>
struct TailScalesRead : Scales {
  static Policy policy() {
    return {Scales::policy().kind, Scales::policy().name + ", tail rows read"};
  }
  template <int kThreads, int kRows, int kChunks>
  static PLANEGATE_DEVICE void stage(SharedPtr<float> to, const typename Scales::Plane& plane,
                                     int64_t row0, int64_t k0, int64_t) {
    Scales::template stage<kThreads, kRows, kChunks>(to, plane, row0, k0, row0 + kRows);
  }
};

/// Padding bytes of a block added to its sc.
struct PaddingInScale : DecodedScales<Padded> {
  static Policy policy() { return {"scales", "a padding byte added to sc"}; }
  template <int kThreads, int kRows, int kChunks>
  static PLANEGATE_DEVICE void stage(SharedPtr<float> to, const Plane& plane, int64_t row0,
                                     int64_t k0, int64_t od) {
    for (int i = simt::thread(); i < kChunks * kRows * 2; i += kThreads) {
      const int64_t row = row0 + i / 2 % kRows;
      const int64_t k = k0 + i / (2 * kRows) * 32 + i % 2 * formats::kSubBlockElems;
      float scale = 0.0f;
      if (row < od) {
        const auto padding = plane.template at<Padded::D>(row, k) + 2;
        const float sc = static_cast<float>(padding.template cast<const int8_t>().load());
        scale = DecodedScales::scale(plane, row, k) + sc;
      }
      to.store(i, scale);
    }
  }
};

template <class Deal_>
struct QuadsDealt : DecodePolicies {
  using Deal = Deal_;
  static std::vector<Policy> policies() { return {{"quads of k", Deal::kWhy}}; }
};
struct WholePassesOnly {
  static constexpr const char* kWhy = "last partial pass skipped";
  static PLANEGATE_DEVICE int64_t quad(int64_t k0, int64_t at, int64_t id) {
    return k0 + 64 * simt::kWarpLanes <= id ? k0 + at : id;
  }
};
struct ClampedQuads {
  static constexpr const char* kWhy = "quads beyond id clamped to the last";
  static PLANEGATE_DEVICE int64_t quad(int64_t k0, int64_t at, int64_t id) {
    return k0 + at < id ? k0 + at : id - 112;
  }
};
struct OneRowMore : DecodePolicies {
  struct Rows {
    static PLANEGATE_DEVICE bool covers(int64_t row, int64_t od) { return row <= od; }
  };
  static std::vector<Policy> policies() { return {{"rows", "row <= od"}}; }
};

struct GemmRowsUnmasked : WExpWith<CpAsync16, GemmOutput<RowsUnmasked>> {
  static constexpr const char* kName = "w_exp/cp_async+rows_unmasked";
};
struct GemmTokensUnmasked : WExpWith<Copy16, GemmOutput<TokensUnmasked>> {
  static constexpr const char* kName = "w_exp/copy16+tokens_unmasked";
};
struct GemmLastRow : WExpWith<CpAsync16, GemmOutput<LastRowSkipped>> {
  static constexpr const char* kName = "w_exp/cp_async+last_row_skipped";
};
struct GemmPaddedOutput : WExpWith<Bytewise, GemmOutput<PaddedOutputRows>> {
  static constexpr const char* kName = "w_exp/bytewise+y_rows_padded";
};
struct GemmZeroTimes : WExpWith<CpAsync16, GemmOutput<ZeroTimesOutput>> {
  static constexpr const char* kName = "w_exp/cp_async+zero_times_y";
};
struct GemmAdded : WExpWith<Copy16, GemmOutput<AddedToOutput>> {
  static constexpr const char* kName = "w_exp/copy16+added_to_y";
};
struct GemmLastStep : WExpWith<CpAsync16, StepsOf<LastStepSkipped>> {
  static constexpr const char* kName = "w_exp/cp_async+last_step_skipped";
};
struct GemmFirstStep : WExpWith<Copy16, StepsOf<FirstStepSkipped>> {
  static constexpr const char* kName = "w_exp/copy16+first_step_skipped";
};
struct GemmStepTooMany : WExpWith<CpAsync16, StepsOf<StepTooMany>> {
  static constexpr const char* kName = "w_exp/cp_async+one_step_more";
};
struct GemmTailRowsRead
    : KnownBad<GemmVariant<TailRowsRead<StoredCodes<WExp, Copy16>>, DecodedScales<Raw>, Copy16>> {
  static constexpr const char* kName = "w_exp/copy16+tail_rows_read";
};
struct GemmTailRowsCpAsync
    : KnownBad<
          GemmVariant<TailRowsRead<StoredCodes<WExp, CpAsync16>>, DecodedScales<Raw>, CpAsync16>> {
  static constexpr const char* kName = "w_exp/cp_async+tail_rows_read";
};
struct GemmTailScales
    : KnownBad<
          GemmVariant<StoredCodes<WExp, Copy16>, TailScalesRead<StoredScales<Copy16>>, Copy16>> {
  static constexpr const char* kName = "w_exp/copy16+w_dsc+tail_rows_read";
};
struct GemmPaddingInScale
    : KnownBad<GemmVariant<ExpandedCodes<Padded, Expand16>, PaddingInScale, CpAsync16>> {
  static constexpr const char* kName = "padded/copy16+padding_in_scale";
};
struct DecodeWholePasses : DecodeWith<QuadsDealt<WholePassesOnly>> {
  static constexpr const char* kName = "padded/decode+partial_pass_skipped";
};
struct DecodeClamped : DecodeWith<QuadsDealt<ClampedQuads>> {
  static constexpr const char* kName = "padded/decode+partial_pass_clamped";
};
struct DecodeRowMore : DecodeWith<OneRowMore> {
  static constexpr const char* kName = "padded/decode+one_row_more";
};

using BadTails = VariantList<GemmRowsUnmasked, GemmTokensUnmasked, GemmLastRow, GemmPaddedOutput,
                             GemmZeroTimes, GemmAdded, GemmLastStep, GemmFirstStep, GemmStepTooMany,
                             GemmTailRowsRead, GemmTailRowsCpAsync, GemmTailScales,
                             GemmPaddingInScale, DecodeWholePasses, DecodeClamped, DecodeRowMore>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
