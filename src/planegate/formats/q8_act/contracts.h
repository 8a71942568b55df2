#pragma once

#include <planegate/core/contract.h>

/// Contracts of the activation planes: X quantised to int8 per 32 elements, scale d in f16.
///
/// Quantised activations travel as q8_0 blocks: 34 bytes per 32 elements, d f16 @0, int8[32] @2.
namespace planegate::q8_act {

inline constexpr const char* kFormat = "q8_0";
inline constexpr int64_t kChunkElems = 32;
inline constexpr int64_t kChunkBytes = 34;
inline constexpr int64_t kQa8TileBytes = kTokenTileTokens * kChunkElems;
inline constexpr int64_t kSdaTileBytes = kTokenTileTokens * 4;

namespace detail {

/// [ceil(nt/64)][id/32] tiles, the two outermost modes of both planes.
constexpr Mode chunk(int64_t tile_bytes) {
  return {"chunk", Axis::kK, kChunkElems, sizes::kChunks, {8 * tile_bytes}};
}
constexpr Mode tile(int64_t tile_bytes) {
  return {"tile", Axis::kToken, kTokenTileTokens, sizes::kTokenTiles,
          8 * tile_bytes * sizes::kChunks};
}

/// A 4-byte word per token and chunk; the order inside a tile serves 16-byte loads of the scales
/// of tokens q, q+8 (half) of two 16-token groups (gsel).
constexpr Layout sda_word(int64_t base_bits) {
  return {base_bits,
          6,
          {{"half", Axis::kToken, 8, {2}, {8 * 4}},
           {"gsel", Axis::kToken, 16, {2}, {8 * 8}},
           {"q", Axis::kToken, 1, {8}, {8 * 16}},
           {"rg", Axis::kToken, 32, {2}, {8 * 128}},
           chunk(kSdaTileBytes),
           tile(kSdaTileBytes)}};
}

inline constexpr int64_t kPad40Bytes = 40;
constexpr Mode pad40_chunk() {
  return {"chunk", Axis::kK, kChunkElems, sizes::kChunks, {8 * kPad40Bytes}};
}
constexpr Mode pad40_token() {
  return {"token", Axis::kToken, 1, sizes::kNt, 8 * kPad40Bytes * sizes::kChunks};
}

}  // namespace detail

/// Codes in tiles of 64 tokens x 32 elements, 16-byte pieces swizzled for ldmatrix.
/// Tokens beyond nt are zero.
struct Qa8 {
  static constexpr const char* kFormat = q8_act::kFormat;
  static constexpr const char* kName = "qa8";
  static constexpr Role kRole = Role::kActivations;
  static constexpr int64_t kAlignmentBytes = 16;
  static constexpr int kPadValue = 0;
  static constexpr Size kBytes = product(sizes::kTokenTiles, kQa8TileBytes* sizes::kChunks);

  struct Codes {
    static constexpr Field kField = {
        "codes",
        8,
        Encoding::kSigned,
        -128,
        127,
        {0,
         4,
         {{"k", Axis::kK, 1, {kChunkElems}, {8}},
          {"token", Axis::kToken, 1, {kTokenTileTokens}, {8 * kChunkElems}},
          detail::chunk(kQa8TileBytes),
          detail::tile(kQa8TileBytes)},
         {3, 4, 3}}};
  };
  using Fields = FieldList<Codes>;
};

/// Per token and chunk a word: d (f16) in the low half, the low 16 bits of the sum of the 32 codes
/// in the high half. Tokens beyond nt are zero.
struct Sda {
  static constexpr const char* kFormat = q8_act::kFormat;
  static constexpr const char* kName = "sda";
  static constexpr Role kRole = Role::kActivations;
  static constexpr int64_t kAlignmentBytes = 16;
  static constexpr int kPadValue = 0;
  static constexpr Size kBytes = product(sizes::kTokenTiles, kSdaTileBytes* sizes::kChunks);

  struct D {
    static constexpr Field kField = {"d", 16, Encoding::kF16, 0, 0, detail::sda_word(0)};
  };
  struct Sum {
    static constexpr Field kField = {"sum", 16,   Encoding::kSigned,
                                     -4096, 4064, detail::sda_word(16)};
  };
  using Fields = FieldList<D, Sum>;
};

/// Decode activations, token-major: per 32 elements 40 bytes, d f16 @0, 2 bytes of padding,
/// int8[32] @4, the sum of the codes as int32 @36.
struct Pad40 {
  static constexpr const char* kFormat = q8_act::kFormat;
  static constexpr const char* kName = "pad40";
  static constexpr Role kRole = Role::kActivations;
  static constexpr int64_t kAlignmentBytes = 8;
  static constexpr int kPadValue = 0;
  static constexpr Size kBytes = product(sizes::kNt, detail::kPad40Bytes* sizes::kChunks);

  struct D {
    static constexpr Field kField = {
        "d", 16, Encoding::kF16, 0, 0, {0, 2, {detail::pad40_chunk(), detail::pad40_token()}}};
  };
  struct Codes {
    static constexpr Field kField = {
        "codes",
        8,
        Encoding::kSigned,
        -128,
        127,
        {8 * 4,
         3,
         {{"k", Axis::kK, 1, {kChunkElems}, {8}}, detail::pad40_chunk(), detail::pad40_token()}}};
  };
  struct Sum {
    static constexpr Field kField = {
        "sum", 32,   Encoding::kSigned,
        -4096, 4064, {8 * 36, 2, {detail::pad40_chunk(), detail::pad40_token()}}};
  };
  using Fields = FieldList<D, Codes, Sum>;
};

}  // namespace planegate::q8_act
