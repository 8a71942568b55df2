#pragma once

#include "kernels/q6_k/known_bad/tails.h"

/// Split K: parts that overlap or leave gaps, and fix-ups that add the wrong partial sums.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

struct PartsOverlap : EvenParts {
  static constexpr const char* kWhy = "parts overlap by a step";
  static PLANEGATE_DEVICE int end(int steps, int split, int splits) {
    const int end = EvenParts::end(steps, split, splits);
    return split + 1 < splits ? end + 1 : end;
  }
};
struct PartsApart : EvenParts {
  static constexpr const char* kWhy = "a step between parts left out";
  static PLANEGATE_DEVICE int begin(int steps, int split, int splits) {
    const int begin = EvenParts::begin(steps, split, splits);
    return split > 0 ? begin + 1 : begin;
  }
};
struct PartOriginsMissing {
  static constexpr const char* kWhy = "every part starts at step 0";
  static PLANEGATE_DEVICE int begin(int, int, int) { return 0; }
  static PLANEGATE_DEVICE int end(int steps, int, int splits) { return steps / splits; }
};

/// InOrderOfSplits with other columns or parts.
template <class Index>
struct SumsAt : InOrderOfSplits {
  static PLANEGATE_DEVICE float sum(GlobalPtr<const float> partial, int splits, int64_t nt,
                                    int64_t od, int64_t token, int64_t row) {
    float sum = 0.0f;
    for (int split = 0; split < Index::parts(splits); ++split) {
      sum += partial.load(Index::at(split, splits, nt, od, token, row));
    }
    return sum;
  }
};
struct AllParts {
  static PLANEGATE_DEVICE int parts(int splits) { return splits; }
};
struct NextRow : AllParts {
  static constexpr const char* kWhy = "parts after the first added to the next row";
  static PLANEGATE_DEVICE int64_t at(int split, int, int64_t nt, int64_t od, int64_t token,
                                     int64_t row) {
    const int64_t from = split > 0 ? (row + 1) % od : row;
    return (split * nt + token) * od + from;
  }
};
struct TokenMajor : AllParts {
  static constexpr const char* kWhy = "partial sums taken as (nt, split, od)";
  static PLANEGATE_DEVICE int64_t at(int split, int splits, int64_t, int64_t od, int64_t token,
                                     int64_t row) {
    return (token * splits + split) * od + row;
  }
};
struct LastPartForgotten {
  static constexpr const char* kWhy = "last part forgotten";
  static PLANEGATE_DEVICE int parts(int splits) { return splits - 1; }
  static PLANEGATE_DEVICE int64_t at(int split, int, int64_t nt, int64_t od, int64_t token,
                                     int64_t row) {
    return (split * nt + token) * od + row;
  }
};
struct FirstPartTwice : AllParts {
  static constexpr const char* kWhy = "first part added for the last";
  static PLANEGATE_DEVICE int64_t at(int split, int splits, int64_t nt, int64_t od, int64_t token,
                                     int64_t row) {
    return ((split + 1 < splits ? split : 0) * nt + token) * od + row;
  }
};
struct TokensPadded : AllParts {
  static constexpr const char* kWhy = "partial sums taken as (split, nt rounded up to 8, od)";
  static PLANEGATE_DEVICE int64_t at(int split, int, int64_t nt, int64_t od, int64_t token,
                                     int64_t row) {
    return (split * ((nt + 7) / 8 * 8) + token) * od + row;
  }
};
struct TokenTileUnmasked : InOrderOfSplits {
  static constexpr const char* kWhy = "tokens beyond nt added";
  static PLANEGATE_DEVICE int64_t end(int64_t token_tile_end, int64_t) { return token_tile_end; }
};
/// The grid counts whole tiles of 8 tokens only.
struct WholeTokenTiles : ReduceSplits<> {
  static simt::Grid grid(const Shape& shape) {
    const int64_t tiles = shape.nt() / kTokens;
    return {ReduceSplits<>::grid(shape).x, tiles > 0 ? tiles : 1};
  }
};

PLANEGATE_DEVICE void add_atomically(GlobalPtr<float> y, int64_t i, float value) {
#if defined(__CUDACC__)
  atomicAdd(y.at() + i, value);
#else
  y.store(i, y.load(i) + value);  // lanes of the host executor do not interrupt each other
#endif
}
/// Warp w adds part w to y: the sum is in order of arrival. A block makes 32 rows of a token.
struct InOrderOfArrival {
  static constexpr int kThreads = 128;
  static constexpr int kMinBlocks = 8;
  struct Shared {};
  using Args = ReduceSplits<>::Args;

  static simt::Grid grid(const Shape& shape) { return {(shape.od() + 31) / 32, shape.nt()}; }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared>) {
    const int64_t row = static_cast<int64_t>(simt::block_x()) * 32 + simt::lane();
    const int64_t token = simt::block_y();
    if (simt::warp() == 0 && row < args.od) args.y.store(token * args.od + row, 0.0f);
    simt::sync_threads();
    if (row >= args.od) return;
    const float part = args.partial.load((simt::warp() * args.nt + token) * args.od + row);
    add_atomically(args.y, token * args.od + row, part);
  }
};

/// w_exp/split_k with other policies or another fix-up, which `why` names.
template <class Policies, class Reduce = ReduceSplits<>>
using SplitKWith = KnownBad<GemmVariant<StoredCodes<WExp, CpAsync16>, StoredScales<CpAsync16>,
                                        CpAsync16, 4, Policies, Reduce>>;
template <class Reduce, class Why>
struct SplitKFixup : SplitKWith<GemmPolicies, Reduce> {
  static ConsumerSpec described(std::string name, int rank) {
    ConsumerSpec consumer = SplitKWith<GemmPolicies, Reduce>::described(std::move(name), rank);
    consumer.policies.back().name = std::string("4 parts, ") + Why::kWhy;
    return consumer;
  }
};
template <class Index>
using SplitKSumsAt = SplitKFixup<ReduceSplits<SumsAt<Index>>, Index>;

struct SplitKOverlap : SplitKWith<StepsOf<PartsOverlap>> {
  static constexpr const char* kName = "w_exp/split_k+parts_overlap";
};
struct SplitKApart : SplitKWith<StepsOf<PartsApart>> {
  static constexpr const char* kName = "w_exp/split_k+parts_apart";
};
struct SplitKOrigins : SplitKWith<StepsOf<PartOriginsMissing>> {
  static constexpr const char* kName = "w_exp/split_k+part_origin_missing";
};
struct SplitKNotCleared : SplitKWith<GemmOutput<AddedToOutput>> {
  static constexpr const char* kName = "w_exp/split_k+workspace_not_cleared";
};
struct SplitKNextRow : SplitKSumsAt<NextRow> {
  static constexpr const char* kName = "w_exp/split_k+next_row";
};
struct SplitKTokenMajor : SplitKSumsAt<TokenMajor> {
  static constexpr const char* kName = "w_exp/split_k+token_major";
};
struct SplitKLastForgotten : SplitKSumsAt<LastPartForgotten> {
  static constexpr const char* kName = "w_exp/split_k+last_part_forgotten";
};
struct SplitKFirstTwice : SplitKSumsAt<FirstPartTwice> {
  static constexpr const char* kName = "w_exp/split_k+first_part_twice";
};
struct SplitKTokensPadded : SplitKSumsAt<TokensPadded> {
  static constexpr const char* kName = "w_exp/split_k+tokens_padded";
};
struct SplitKTileUnmasked : SplitKFixup<ReduceSplits<TokenTileUnmasked>, TokenTileUnmasked> {
  static constexpr const char* kName = "w_exp/split_k+token_tile_unmasked";
};
struct WholeTiles {
  static constexpr const char* kWhy = "whole tiles of 8 tokens only";
};
struct SplitKWholeTiles : SplitKFixup<WholeTokenTiles, WholeTiles> {
  static constexpr const char* kName = "w_exp/split_k+token_tail_skipped";
};
struct Arrival {
  static constexpr const char* kWhy = "in order of arrival";
};
struct SplitKArrival : SplitKFixup<InOrderOfArrival, Arrival> {
  static constexpr const char* kName = "w_exp/split_k+order_of_arrival";
};

using BadSplitK =
    VariantList<SplitKOverlap, SplitKApart, SplitKOrigins, SplitKNotCleared, SplitKNextRow,
                SplitKTokenMajor, SplitKLastForgotten, SplitKFirstTwice, SplitKTokensPadded,
                SplitKTileUnmasked, SplitKWholeTiles, SplitKArrival>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
