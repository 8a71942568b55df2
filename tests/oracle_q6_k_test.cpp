#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/half.h"
#include "oracle/q6_k/block.h"
#include "tests/oracle_fixture.h"

namespace planegate {
namespace {

using oracle::q6_k::Block;
using oracle::q6_k::decode;
using oracle::q6_k::encode;
using testing::HasSubstr;

constexpr int64_t kQh = 128;
constexpr int64_t kSc = 192;
constexpr int64_t kD = 208;

void set(Bytes& bytes, int64_t at, int value) {
  bytes[static_cast<size_t>(at)] = static_cast<std::byte>(value);
}

/// The codes of a block that is zero but for one byte, as (element, code) of those that are not 0.
std::vector<std::pair<int, int>> codes_of_hot_byte(int64_t at, int value) {
  Bytes bytes(q6_k::kBlockBytes);
  set(bytes, at, value);
  const Block block = decode(bytes.data());
  std::vector<std::pair<int, int>> hot;
  for (int e = 0; e < 256; ++e) {
    const int code = block.codes[static_cast<size_t>(e)];
    if (code != 0) hot.emplace_back(e, code);
  }
  return hot;
}
using Hot = std::vector<std::pair<int, int>>;

TEST(Q6KDecode, PutsHighBitsOfWeight33InQhByte1Bits2To3) {
  EXPECT_EQ(codes_of_hot_byte(kQh + 1, 0x03), (Hot{{1, 48}}));
  EXPECT_EQ(codes_of_hot_byte(kQh + 1, 0x0c), (Hot{{33, 48}}));
  EXPECT_EQ(codes_of_hot_byte(kQh + 1, 0x30), (Hot{{65, 48}}));
  EXPECT_EQ(codes_of_hot_byte(kQh + 1, 0xc0), (Hot{{97, 48}}));
  EXPECT_EQ(codes_of_hot_byte(kQh + 1, 0x48), (Hot{{33, 32}, {97, 16}}));
}

TEST(Q6KDecode, StartsTheSecondHalfAtQlByte64AndQhByte32) {
  EXPECT_EQ(codes_of_hot_byte(kQh + 32, 0x01), (Hot{{128, 16}}));
  EXPECT_EQ(codes_of_hot_byte(kQh + 63, 0x80), (Hot{{255, 32}}));
  EXPECT_EQ(codes_of_hot_byte(64, 0x5a), (Hot{{128, 10}, {192, 5}}));
  EXPECT_EQ(codes_of_hot_byte(127, 0xf0), (Hot{{255, 15}}));
}

TEST(Q6KDecode, SharesAQlByteBetweenWeights64Apart) {
  EXPECT_EQ(codes_of_hot_byte(0, 0x21), (Hot{{0, 1}, {64, 2}}));
  EXPECT_EQ(codes_of_hot_byte(32, 0x43), (Hot{{32, 3}, {96, 4}}));
  EXPECT_EQ(codes_of_hot_byte(63, 0x0f), (Hot{{63, 15}}));
}

/// ql byte i = i, every qh byte 0b11100100 (quarter n of a half has high bits n), sc i = i - 8,
/// d = 0.5.
Bytes counting_block() {
  Bytes bytes(q6_k::kBlockBytes);
  for (int i = 0; i < 128; ++i) set(bytes, i, i);
  for (int i = 0; i < 64; ++i) set(bytes, kQh + i, 0xe4);
  for (int i = 0; i < 16; ++i) set(bytes, kSc + i, i - 8);
  set(bytes, kD + 1, 0x38);
  return bytes;
}

TEST(Q6KOracle, DequantisesABlockComputedByHand) {
  const Bytes bytes = counting_block();
  const auto w = dequantised(q6_k_format(), tensor("q6_K", Shape(1, 256), bytes), 0);
  EXPECT_EQ(w[5], 0.5 * -8 * (5 - 32));     // ql[5] = 0x05: low 5, high bits 0; sub-block 0
  EXPECT_EQ(w[37], 0.5 * -6 * (21 - 32));   // ql[37] = 0x25: low 5, 1 << 4; sub-block 2
  EXPECT_EQ(w[69], 0.5 * -4 * (32 - 32));   // ql[5] >> 4 = 0, 2 << 4; sub-block 4
  EXPECT_EQ(w[101], 0.5 * -2 * (50 - 32));  // ql[37] >> 4 = 2, 3 << 4; sub-block 6
  EXPECT_EQ(w[133], 0.5 * 0 * (5 - 32));    // ql[69] = 0x45: low 5, 0; sub-block 8
  EXPECT_EQ(w[149], 0.5 * 1 * (5 - 32));    // ql[85] = 0x55: low 5, 0; sub-block 9
  EXPECT_EQ(w[255], 0.5 * 7 * (55 - 32));   // ql[127] >> 4 = 7, 3 << 4; sub-block 15
}

TEST(Q6KDecode, AgreesWithTheClosedFormOfTheFormat) {
  const Bytes bytes = random_bytes(q6_k::kBlockBytes, 1);
  const Block block = decode(bytes.data());
  const auto byte = [&](int at) { return static_cast<int>(bytes[static_cast<size_t>(at)]); };
  for (int e = 0; e < 256; ++e) {
    const int half = e >> 7;
    const int n = e & 127;
    const int low = byte(half * 64 + (n & 63)) >> 4 * (n >> 6) & 15;
    const int high = byte(128 + half * 32 + (e & 31)) >> 2 * ((n >> 5) & 3) & 3;
    EXPECT_EQ(block.codes[static_cast<size_t>(e)], low | high << 4) << e;
    EXPECT_EQ(block.sc[static_cast<size_t>(e / 16)], int8_at(bytes, kSc + e / 16));
  }
  EXPECT_EQ(block.d_bits, u16_at(bytes, kD));
}

TEST(Q6KEncode, InvertsDecodeBothWays) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Bytes bytes = random_bytes(q6_k::kBlockBytes, seed);
    const Block block = decode(bytes.data());
    Bytes again(q6_k::kBlockBytes);
    encode(block, again.data());
    ASSERT_EQ(again, bytes);
    ASSERT_EQ(decode(again.data()), block);
  }
}

TEST(Q6KEncode, GivesBackEveryCodeAtEveryPlace) {
  for (int shift = 0; shift < 64; ++shift) {
    Block block{};
    for (size_t e = 0; e < 256; ++e) {
      block.codes[e] = static_cast<uint8_t>((5 * e + static_cast<size_t>(shift)) % 64);
    }
    Bytes bytes(q6_k::kBlockBytes);
    encode(block, bytes.data());
    ASSERT_EQ(decode(bytes.data()), block) << shift;
  }
}

// d * sc * (q - 32) has at most 11 + 7 + 5 significant bits: f32 as gguf computes it is exact.
TEST(Q6KOracle, DequantisesAsAnOutsideDecoder) {
  const auto blocks = pinned<std::byte>("q6_k_blocks.bin");
  const auto values = pinned<float>("q6_k_values.f32");
  ASSERT_EQ(values.size(), 8192u);
  const RawTensor raw = tensor("q6_K", Shape(8, 1024), blocks);
  for (int64_t row = 0; row < 8; ++row) {
    const auto w = dequantised(q6_k_format(), raw, row);
    for (size_t k = 0; k < 1024; ++k) {
      const float outside = values[static_cast<size_t>(row) * 1024 + k];
      ASSERT_EQ(std::bit_cast<uint32_t>(static_cast<float>(w[k])), std::bit_cast<uint32_t>(outside))
          << "row " << row << " k " << k;
      ASSERT_EQ(w[k], static_cast<double>(outside));
    }
  }
}

TEST(Q6KMirror, WritesTheCodesThatAnOutsideDecoderSaw) {
  const auto blocks = pinned<std::byte>("q6_k_blocks.bin");
  const auto values = pinned<float>("q6_k_values.f32");
  const Bytes plane = mirrored<q6_k::WExp>(tensor("q6_K", Shape(8, 1024), blocks));
  int64_t compared = 0;
  for (int64_t i = 0; i < 8192; ++i) {
    const int64_t block = i / 256 * q6_k::kBlockBytes;
    const double scale = oracle::f16_to_f64(u16_at(blocks, block + kD)) *
                         int8_at(blocks, block + kSc + i % 256 / 16);
    if (scale == 0) continue;
    ++compared;
    ASSERT_EQ(int8_at(plane, i), values[static_cast<size_t>(i)] / scale) << i;
  }
  EXPECT_GT(compared, 8000);
}

TEST(Q6KMirror, PutsOneHotWeightAtRowTimesIdPlusK) {
  const Shape shape(3, 512);
  Bytes bytes(static_cast<size_t>(q6_k_format().size_bytes(shape)));
  set(bytes, (2 * 2 + 1) * q6_k::kBlockBytes + kQh + 1, 0x0c);  // row 2, super-block 1, weight 33
  const Bytes plane = mirrored<q6_k::WExp>(tensor("q6_K", shape, bytes));
  Bytes want(3 * 512, std::byte{0xe0});
  set(want, 2 * 512 + 256 + 33, 48 - 32);
  EXPECT_EQ(plane, want);
}

TEST(Q6KMirror, IsTheFilesOwnBytesForRaw) {
  for (const Shape& shape : {Shape(1, 256), Shape(7, 512), Shape(257, 2048)}) {
    const Bytes bytes = random_weights(shape, 3);
    EXPECT_EQ(mirrored<q6_k::Raw>(tensor("q6_K", shape, bytes)), bytes) << shape.text();
  }
}

TEST(Q6KMirror, TreatsEachRowOfManyAsAloneWhateverTheThreads) {
  const Shape shape(257, 2048);
  const Bytes bytes = random_weights(shape, 4);
  const Bytes plane = mirrored<q6_k::WExp>(tensor("q6_K", shape, bytes));
  const int64_t row_bytes = 8 * q6_k::kBlockBytes;
  Bytes rows;
  for (int64_t row = 0; row < 257; ++row) {
    const Bytes own(bytes.begin() + row * row_bytes, bytes.begin() + (row + 1) * row_bytes);
    const Bytes one = mirrored<q6_k::WExp>(tensor("q6_K", Shape(1, 2048), own));
    rows.insert(rows.end(), one.begin(), one.end());
  }
  EXPECT_EQ(plane, rows);
}

TEST(Q6KMirror, RefusesWrongSizesAndFormatsAndWritesNothing) {
  const Shape shape(2, 512);
  const Bytes bytes(840);
  const Bytes truncated(839);
  expect_refused_untouched<q6_k::WExp>(tensor("q8_0", shape, bytes), 1024, "format=q8_0");
  expect_refused_untouched<q6_k::WExp>(tensor("q6_K", shape, truncated), 1024, "raw.bytes=839");
  expect_refused_untouched<q6_k::WExp>(tensor("q6_K", shape, bytes), 1023, "w_exp=1023");
  expect_refused_untouched<q6_k::WExp>(tensor("q6_K", shape, bytes), 1025, "w_exp=1025");
  expect_refused_untouched<q6_k::Raw>(tensor("f32", shape, bytes), 840, "format=f32");
  expect_refused_untouched<q6_k::Raw>(tensor("q6_K", shape, truncated), 840, "raw.bytes=839");
  expect_refused_untouched<q6_k::Raw>(tensor("q6_K", shape, bytes), 841, "raw=841");
  expect_refused_untouched<q6_k::Padded>(tensor("q8_0", shape, bytes), 896, "format=q8_0");
  expect_refused_untouched<q6_k::Padded>(tensor("q6_K", shape, truncated), 896, "raw.bytes=839");
  expect_refused_untouched<q6_k::Padded>(tensor("q6_K", shape, bytes), 840, "padded=840");
  expect_refused_untouched<q6_k::WDsc>(tensor("q8_0", shape, bytes), 256, "format=q8_0");
  expect_refused_untouched<q6_k::WDsc>(tensor("q6_K", shape, truncated), 256, "raw.bytes=839");
  expect_refused_untouched<q6_k::WDsc>(tensor("q6_K", shape, bytes), 257, "w_dsc=257");
}

TEST(Q6KOracle, CountsBlocksAndRefusesAPartOfOne) {
  EXPECT_EQ(q6_k_format().size_bytes(Shape(70, 512)), 70 * 2 * 210);
  EXPECT_EQ(refusal_of([] { (void)q6_k_format().size_bytes(Shape(70, 640)); }),
            "id=640: not a multiple of 256");
}

TEST(Q6KOracle, RefusesLinesThatAreNotThere) {
  const Shape shape(2, 256);
  const Bytes bytes(420);
  const auto ask = [&](int64_t line, int64_t k, size_t elems) {
    std::vector<double> values(elems);
    return refusal_of(
        [&] { q6_k_format().dequantise(tensor("q6_K", shape, bytes), line, k, values); });
  };
  EXPECT_EQ(ask(1, 0, 256), "");
  EXPECT_THAT(ask(2, 0, 256), HasSubstr("line=2"));
  EXPECT_THAT(ask(-1, 0, 256), HasSubstr("line=-1"));
  EXPECT_THAT(ask(0, 0, 255), HasSubstr("values=255"));
  EXPECT_THAT(ask(0, 16, 256), HasSubstr("k=16"));
  EXPECT_THAT(ask(0, -256, 256), HasSubstr("k=-256"));
  EXPECT_THAT(ask(0, 256, 256), HasSubstr("values=256"));
  EXPECT_THAT(refusal_of([&] {
                (void)dequantised(q6_k_format(), tensor("q6_K", Shape(3, 256), bytes), 0);
              }),
              HasSubstr("raw.bytes=420"));
}

TEST(Q6KOracle, FindsTheFirstNonFiniteScale) {
  const Shape shape(3, 512);
  Bytes bytes = random_weights(shape, 5);
  EXPECT_FALSE(q6_k_format().first_non_finite(tensor("q6_K", shape, bytes)).has_value());
  set(bytes, 5 * q6_k::kBlockBytes + kD, 0x00);
  set(bytes, 5 * q6_k::kBlockBytes + kD + 1, 0xfc);
  set(bytes, 3 * q6_k::kBlockBytes + kD, 0x01);
  set(bytes, 3 * q6_k::kBlockBytes + kD + 1, 0x7e);
  const auto found = q6_k_format().first_non_finite(tensor("q6_K", shape, bytes));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->line, 1);
  EXPECT_EQ(found->block, 1);
  EXPECT_EQ(found->f16_bits, 0x7e01);
}

std::vector<Block> lattice_blocks(const Shape& shape, uint64_t seed, const LatticeRanges& ranges) {
  const Bytes bytes = lattice_of(q6_k_format(), shape, seed, ranges);
  std::vector<Block> blocks;
  for (size_t at = 0; at < bytes.size(); at += 210) blocks.push_back(decode(bytes.data() + at));
  return blocks;
}

std::set<int> all_codes(const std::vector<Block>& blocks) {
  std::set<int> codes;
  for (const Block& block : blocks) {
    for (const int code : block.codes) codes.insert(code - 32);
  }
  return codes;
}
std::set<int> all_scales(const std::vector<Block>& blocks) {
  std::set<int> scales;
  for (const Block& block : blocks) scales.insert(block.sc.begin(), block.sc.end());
  return scales;
}

TEST(Q6KLattice, UsesEveryCodeAndScaleOfItsRangesAndNoOther) {
  const auto blocks = lattice_blocks(Shape(9, 512), 1, {3, 2, false, 0});
  EXPECT_EQ(all_codes(blocks), (std::set<int>{-3, -2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(all_scales(blocks), (std::set<int>{-2, -1, 1, 2}));
  for (const Block& block : blocks) EXPECT_EQ(block.d_bits, 0x3c00);
}

TEST(Q6KLattice, CutsRangesAtTheFormatsOwn) {
  const auto blocks = lattice_blocks(Shape(128, 1024), 2, {1000, 1000, false, 0});
  const std::set<int> codes = all_codes(blocks);
  EXPECT_EQ(std::pair(*codes.begin(), *codes.rbegin()), std::pair(-32, 31));
  EXPECT_EQ(codes.size(), 64u);
  const std::set<int> scales = all_scales(blocks);
  EXPECT_EQ(std::pair(*scales.begin(), *scales.rbegin()), std::pair(-128, 127));
  EXPECT_EQ(scales.size(), 255u);  // all but 0
}

TEST(Q6KLattice, DrawsZeroAndSignedPowersOfTwoWithinTheWindowOfTheirRow) {
  constexpr int kNsb = 8;
  const auto blocks = lattice_blocks(Shape(400, kNsb * 256), 3, {3, 2, true, 2});
  std::set<double> scales;
  for (size_t row = 0; row < 400; ++row) {
    double least = HUGE_VAL;
    double most = 0;
    for (size_t sb = 0; sb < kNsb; ++sb) {
      const double d = oracle::f16_to_f64(blocks[row * kNsb + sb].d_bits);
      scales.insert(d);
      if (d == 0) continue;
      least = std::min(least, std::fabs(d));
      most = std::max(most, std::fabs(d));
    }
    ASSERT_LE(most, 4 * least) << row;
  }
  std::set<double> want = {0.0};
  for (int e = -24; e <= 15; ++e) want.insert({std::ldexp(1.0, e), -std::ldexp(1.0, e)});
  EXPECT_EQ(scales, want);
}

TEST(Q6KLattice, RepeatsNo16ScalesOfAnyBlock) {
  std::set<std::array<int8_t, 16>> seen;
  for (const Block& block : lattice_blocks(Shape(9, 2048), 1, {3, 4, false, 0})) {
    seen.insert(block.sc);
  }
  EXPECT_EQ(seen.size(), 72u);
}

TEST(Q6KLattice, RepeatsNo16CodesAnywhere) {
  const Shape shape(64, 2048);
  const Bytes bytes = lattice_of(q6_k_format(), shape, 4, {32, 1, false, 0});
  const Bytes plane = mirrored<q6_k::WExp>(tensor("q6_K", shape, bytes));
  EXPECT_FALSE(repeats_16_bytes(plane));
}

TEST(Q6KLattice, IsAFunctionOfSeedAndCoordinatesAlone) {
  const Bytes small = lattice_of(q6_k_format(), Shape(2, 512), 5, {31, 4, true, 1});
  const Bytes tall = lattice_of(q6_k_format(), Shape(300, 512), 5, {31, 4, true, 1});
  EXPECT_TRUE(std::equal(small.begin(), small.end(), tall.begin()));
  EXPECT_NE(lattice_of(q6_k_format(), Shape(2, 512), 6, {31, 4, true, 1}), small);
}

TEST(Q6KLattice, RefusesRangesThatDrawNothing) {
  const auto ask = [](const LatticeRanges& ranges) {
    return refusal_of([&] { (void)lattice_of(q6_k_format(), Shape(1, 256), 1, ranges); });
  };
  EXPECT_EQ(ask({1, 1, true, 39}), "");
  EXPECT_THAT(ask({0, 1, false, 0}), HasSubstr("ranges.code=0"));
  EXPECT_THAT(ask({1, 0, false, 0}), HasSubstr("ranges.scale=0"));
  EXPECT_THAT(ask({1, 1, true, -1}), HasSubstr("ranges.window=-1"));
  EXPECT_THAT(ask({1, 1, true, 40}), HasSubstr("ranges.window=40"));
}

}  // namespace
}  // namespace planegate
