#pragma once

#include <planegate/core/contract.h>

/// Contracts of the q6_K weight planes: sizes, fields and layouts, no code.
///
/// q6_K: 256 weights of a row are one super-block of 210 bytes: ql 128 @0, qh 64 @128,
/// sc 16 x int8 @192, d f16 @208. value = d * sc[e/16] * (q - 32), q = ql | qh<<4 in 0..63.
/// Source: the GGUF block format of that name.
namespace planegate::q6_k {

inline constexpr const char* kFormat = "q6_K";
inline constexpr int64_t kBlockBytes = 210;
inline constexpr int64_t kPaddedBlockBytes = 224;
inline constexpr int64_t kSubBlockElems = 16;
inline constexpr int kCentre = 32;

namespace detail {

constexpr Size bits(Size size_bytes) {
  return 8 * size_bytes;
}
constexpr Size bits(int64_t size_bytes) {
  return {8 * size_bytes};
}

constexpr Mode super_block(int64_t stride_bytes) {
  return {"sb", Axis::kK, kSuperBlockElems, sizes::kNsb, bits(stride_bytes)};
}
constexpr Mode row(Size stride_bytes) {
  return {"row", Axis::kRow, 1, sizes::kOd, bits(stride_bytes)};
}

/// The fields of the file's own block, with blocks `block_bytes` apart.
constexpr Field ql(int64_t block_bytes) {
  return {"ql",
          4,
          Encoding::kUnsigned,
          0,
          15,
          {0,
           5,
           {{"nibble", Axis::kK, 64, {2}, {4}},
            {"e", Axis::kK, 1, {64}, bits(1)},
            {"half", Axis::kK, 128, {2}, bits(64)},
            super_block(block_bytes),
            row(block_bytes * sizes::kNsb)}}};
}
constexpr Field qh(int64_t block_bytes) {
  return {"qh",
          2,
          Encoding::kUnsigned,
          0,
          3,
          {128 * 8,
           5,
           {{"pair", Axis::kK, 32, {4}, {2}},
            {"e", Axis::kK, 1, {32}, bits(1)},
            {"half", Axis::kK, 128, {2}, bits(32)},
            super_block(block_bytes),
            row(block_bytes * sizes::kNsb)}}};
}
constexpr Field sc(int64_t block_bytes) {
  return {"sc",
          8,
          Encoding::kSigned,
          -128,
          127,
          {192 * 8,
           3,
           {{"sub", Axis::kK, kSubBlockElems, {16}, bits(1)},
            super_block(block_bytes),
            row(block_bytes * sizes::kNsb)}}};
}
constexpr Field d(int64_t block_bytes) {
  return {"d", 16, Encoding::kF16,
          0,   0,  {208 * 8, 2, {super_block(block_bytes), row(block_bytes * sizes::kNsb)}}};
}

}  // namespace detail

/// The file's own blocks, back to back. Blocks lie at even, not at 16-byte addresses.
struct Raw {
  static constexpr const char* kFormat = q6_k::kFormat;
  static constexpr const char* kName = "raw";
  static constexpr Role kRole = Role::kWeights;
  static constexpr int64_t kAlignmentBytes = 2;
  static constexpr int kPadValue = 0;
  static constexpr Size kBytes = product(sizes::kOd, kBlockBytes* sizes::kNsb);

  struct Ql {
    static constexpr Field kField = detail::ql(kBlockBytes);
  };
  struct Qh {
    static constexpr Field kField = detail::qh(kBlockBytes);
  };
  struct Sc {
    static constexpr Field kField = detail::sc(kBlockBytes);
  };
  struct D {
    static constexpr Field kField = detail::d(kBlockBytes);
  };
  using Fields = FieldList<Ql, Qh, Sc, D>;
};

/// The file's blocks moved apart to 224 bytes, so that each starts at a 16-byte address.
struct Padded {
  static constexpr const char* kFormat = q6_k::kFormat;
  static constexpr const char* kName = "padded";
  static constexpr Role kRole = Role::kWeights;
  static constexpr int64_t kAlignmentBytes = 16;
  static constexpr int kPadValue = 0;
  static constexpr Size kBytes = product(sizes::kOd, kPaddedBlockBytes* sizes::kNsb);

  struct Ql {
    static constexpr Field kField = detail::ql(kPaddedBlockBytes);
  };
  struct Qh {
    static constexpr Field kField = detail::qh(kPaddedBlockBytes);
  };
  struct Sc {
    static constexpr Field kField = detail::sc(kPaddedBlockBytes);
  };
  struct D {
    static constexpr Field kField = detail::d(kPaddedBlockBytes);
  };
  using Fields = FieldList<Ql, Qh, Sc, D>;
};

/// Dense centred codes q - 32 as int8: byte (j, k) at j*id + k.
struct WExp {
  static constexpr const char* kFormat = q6_k::kFormat;
  static constexpr const char* kName = "w_exp";
  static constexpr Role kRole = Role::kWeights;
  static constexpr int64_t kAlignmentBytes = 16;
  static constexpr int kPadValue = 0;
  static constexpr Size kBytes = product(sizes::kOd, sizes::kId);

  struct Codes {
    static constexpr Field kField = {"codes",
                                     8,
                                     Encoding::kSigned,
                                     -kCentre,
                                     kCentre - 1,
                                     {0,
                                      3,
                                      {{"k", Axis::kK, 1, {kSuperBlockElems}, detail::bits(1)},
                                       detail::super_block(kSuperBlockElems),
                                       detail::row(sizes::kId)}}};
  };
  using Fields = FieldList<Codes>;
};

/// The products d * sc (exact in f32) of both 16-halves of each 32-chunk, chunk-major: the pair of
/// chunk c of row j at index c*od_even + j. A 16-byte copy spans two rows, hence od_even; the row
/// that an odd od is rounded up by is 0.
struct WDsc {
  static constexpr const char* kFormat = q6_k::kFormat;
  static constexpr const char* kName = "w_dsc";
  static constexpr Role kRole = Role::kWeights;
  static constexpr int64_t kAlignmentBytes = 16;
  static constexpr int kPadValue = 0;
  static constexpr Size kBytes = product(8 * sizes::kOdEven, sizes::kChunks);

  struct Dsc {
    static constexpr Field kField = {
        "dsc",
        32,
        Encoding::kF32,
        0,
        0,
        {0,
         3,
         {{"sub", Axis::kK, kSubBlockElems, {2}, detail::bits(4)},
          detail::row({8}),
          {"chunk", Axis::kK, 32, sizes::kChunks, detail::bits(8 * sizes::kOdEven)}}}};
  };
  using Fields = FieldList<Dsc>;
};

}  // namespace planegate::q6_k
