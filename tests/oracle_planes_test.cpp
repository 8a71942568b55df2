#include <bit>
#include <cstring>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/half.h"
#include "tests/oracle_fixture.h"

/// Mirrors of `padded`, `w_dsc` and `pad40`.
namespace planegate {
namespace {

constexpr int64_t kSc = 192;
constexpr int64_t kD = 208;

void set(Bytes& bytes, int64_t at, int value) {
  bytes[static_cast<size_t>(at)] = static_cast<std::byte>(value);
}

TEST(PaddedMirror, PutsTheFilesBlocks224BytesApart) {
  const Shape shape(3, 512);
  Bytes bytes(static_cast<size_t>(q6_k_format().size_bytes(shape)));
  set(bytes, (2 * 2 + 1) * 210 + 5, 0x77);    // row 2, super-block 1: the 6th block
  set(bytes, (1 * 2 + 0) * 210 + 209, 0x38);  // row 1, super-block 0: the 3rd
  Bytes want(3 * 2 * 224);
  set(want, 1125, 0x77);  // 5 * 224 + 5
  set(want, 657, 0x38);   // 2 * 224 + 209
  EXPECT_EQ(mirrored<q6_k::Padded>(tensor("q6_K", shape, bytes)), want);
}

TEST(PaddedMirror, LosesNothingAndAddsZeros) {
  for (const Shape& shape : {Shape(1, 256), Shape(7, 768), Shape(257, 2048)}) {
    const Bytes bytes = random_weights(shape, 6);
    const Bytes plane = mirrored<q6_k::Padded>(tensor("q6_K", shape, bytes));
    Bytes contents;
    for (auto block = plane.begin(); block != plane.end(); block += 224) {
      contents.insert(contents.end(), block, block + 210);
      ASSERT_EQ(Bytes(block + 210, block + 224), Bytes(14)) << shape.text();
    }
    EXPECT_EQ(contents, bytes) << shape.text();
  }
}

float f32_at(const Bytes& bytes, int64_t at) {
  float value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
uint32_t f32_bits_at(const Bytes& bytes, int64_t at) {
  return std::bit_cast<uint32_t>(f32_at(bytes, at));
}

// Row 2, super-block 1, sub-block 5: chunk 8 + 5/2 = 10, its second half. od 3 counts as 4, so
// pair 10*4 + 2 = 42, byte 42*8 + 4 = 340. 0.5 * 3 = 1.5 = 0x3fc00000.
TEST(WDscMirror, PutsOneHotScaleInTheLineOfItsChunk) {
  const Shape shape(3, 512);
  Bytes bytes(static_cast<size_t>(q6_k_format().size_bytes(shape)));
  set(bytes, 5 * 210 + kSc + 5, 3);
  set(bytes, 5 * 210 + kD + 1, 0x38);
  Bytes want(16 * 4 * 8);
  set(want, 342, 0xc0);
  set(want, 343, 0x3f);
  EXPECT_EQ(mirrored<q6_k::WDsc>(tensor("q6_K", shape, bytes)), want);
}

// sc -8, -7, ... 7 times 0.5: chunk c of row 0 has (2c - 8) * 0.5 = c - 4 and c - 3.5; row 1 is 0.
TEST(WDscMirror, MultipliesTheScalesOfABlockComputedByHand) {
  Bytes bytes = random_bytes(210, 1);
  for (int sub = 0; sub < 16; ++sub) set(bytes, kSc + sub, sub - 8);
  oracle::store_f16(0x3800, &bytes[kD]);
  const Bytes plane = mirrored<q6_k::WDsc>(tensor("q6_K", Shape(1, 256), bytes));
  ASSERT_EQ(plane.size(), 8u * 2 * 8);
  for (int64_t chunk = 0; chunk < 8; ++chunk) {
    const float low = static_cast<float>(chunk) - 4;
    EXPECT_EQ(f32_at(plane, chunk * 16), low);
    EXPECT_EQ(f32_at(plane, chunk * 16 + 4), low + 0.5f);
    EXPECT_EQ(f32_bits_at(plane, chunk * 16 + 8), 0u);
    EXPECT_EQ(f32_bits_at(plane, chunk * 16 + 12), 0u);
  }
}

struct Product {
  uint16_t d_bits;
  int sc;
  uint32_t f32_bits;
};

// 65504 * -128 = -2^23 * (2 - 2^-10), 65504 * 127 = 8,319,008; 2^-24 * 1 and 1023 * 2^-24 * 127 =
// 129,921 * 2^-24 are normal in f32. A zero has the sign of the product.
TEST(WDscMirror, GivesTheExactProductAndTheSignOfAZero) {
  const Product products[] = {
      {0x7bff, -128, std::bit_cast<uint32_t>(-8384512.0f)},
      {0x7bff, 127, std::bit_cast<uint32_t>(8319008.0f)},
      {0x0001, 1, 0x33800000},
      {0x03ff, 127, std::bit_cast<uint32_t>(129921 * 0x1p-24f)},
      {0x8001, -128, 0x37000000},
      {0x0400, -1, 0xb8800000},
      {0x0000, 5, 0},
      {0x0000, -5, 0x80000000},
      {0x8000, 5, 0x80000000},
      {0x8000, -5, 0},
      {0x3c00, 0, 0},
      {0xbc00, 0, 0x80000000},
  };
  for (const Product& product : products) {
    Bytes bytes(210);
    set(bytes, kSc + 9, product.sc);
    oracle::store_f16(product.d_bits, &bytes[kD]);
    const Bytes plane = mirrored<q6_k::WDsc>(tensor("q6_K", Shape(1, 256), bytes));
    EXPECT_EQ(f32_bits_at(plane, 4 * 16 + 4), product.f32_bits) << product.d_bits << product.sc;
  }
}

/// Byte of sub-block `sub` of row `row` in w_dsc, as the format's table gives it.
int64_t dsc_byte(const Shape& shape, int64_t row, int64_t sub) {
  const int64_t od_even = (shape.od() + 1) / 2 * 2;
  return (sub / 2 * od_even + row) * 8 + sub % 2 * 4;
}

TEST(WDscMirror, AgreesWithTheClosedFormAndZeroesTheExtraRow) {
  for (const Shape& shape : {Shape(1, 256), Shape(2, 256), Shape(3, 512), Shape(70, 768),
                             Shape(129, 512), Shape(1025, 256), Shape(4099, 1792)}) {
    const Bytes bytes = random_weights(shape, 8);
    Bytes want(static_cast<size_t>((shape.od() + 1) / 2 * 2 * shape.id() / 4));
    for (int64_t sub = 0; sub < shape.od() * shape.nsb() * 16; ++sub) {
      const int64_t block = sub / 16 * 210;
      const float dsc = oracle::f16_to_f32(u16_at(bytes, block + kD)) *
                        static_cast<float>(int8_at(bytes, block + kSc + sub % 16));
      const int64_t subs_of_row = shape.nsb() * 16;
      const int64_t to = dsc_byte(shape, sub / subs_of_row, sub % subs_of_row);
      std::memcpy(want.data() + to, &dsc, sizeof dsc);
    }
    EXPECT_EQ(mirrored<q6_k::WDsc>(tensor("q6_K", shape, bytes)), want) << shape.text();
  }
}

// 5 rows x 3 super-blocks x 16 sub-blocks, each with a product of its own: 1..240 in sixteenths.
TEST(WDscMirror, KeepsEveryProductOnce) {
  const Shape shape(5, 768);
  Bytes bytes(15 * 210);
  std::multiset<float> want;
  for (int sub = 0; sub < 240; ++sub) {
    const int64_t block = sub / 16 * 210;
    set(bytes, block + kSc + sub % 16, sub % 16 + 1);
    oracle::store_f16(oracle::f64_to_f16(1 + sub / 16 / 16.0),
                      &bytes[static_cast<size_t>(block) + kD]);
    want.insert((1 + static_cast<float>(sub / 16) / 16) * static_cast<float>(sub % 16 + 1));
  }
  for (int i = 0; i < 48; ++i) want.insert(0);
  const Bytes plane = mirrored<q6_k::WDsc>(tensor("q6_K", shape, bytes));
  std::multiset<float> have;
  for (int64_t at = 0; at < 24 * 6 * 8; at += 4) have.insert(f32_at(plane, at));
  EXPECT_EQ(have, want);
}

// gguf multiplies (d * sc) * (q - 32) in f32: its values divided by q - 32 are its products, zeros
// with their signs included.
TEST(WDscMirror, HoldsTheProductsOfAnOutsideDecoder) {
  const auto all_blocks = pinned<std::byte>("q6_k_blocks.bin");
  const auto values = pinned<float>("q6_k_values.f32");
  for (const Shape& shape : {Shape(8, 1024), Shape(7, 1024)}) {
    const Bytes blocks(all_blocks.begin(), all_blocks.begin() + shape.od() * 4 * 210);
    const Bytes codes = mirrored<q6_k::WExp>(tensor("q6_K", shape, blocks));
    const Bytes plane = mirrored<q6_k::WDsc>(tensor("q6_K", shape, blocks));
    int64_t compared = 0;
    for (int64_t i = 0; i < shape.od() * 1024; ++i) {
      if (int8_at(codes, i) == 0) continue;
      ++compared;
      const float dsc = values[static_cast<size_t>(i)] / static_cast<float>(int8_at(codes, i));
      ASSERT_EQ(f32_bits_at(plane, dsc_byte(shape, i / 1024, i % 1024 / 16)),
                std::bit_cast<uint32_t>(dsc))
          << i;
    }
    EXPECT_GT(compared, shape.od() * 1000);
  }
}

TEST(WDscMirror, RefusesScalesThatAreNotFiniteAndWritesNothing) {
  const Shape shape(3, 512);
  for (const int high : {0x7c, 0xfc, 0x7e}) {
    Bytes bytes = random_weights(shape, 9);
    set(bytes, 5 * 210 + kD + 1, high);
    expect_refused_untouched<q6_k::WDsc>(tensor("q6_K", shape, bytes), 16 * 4 * 8,
                                         "d[row 2, super-block 1]");
  }
}

// Token 2, chunk 9 of 16: block 2*16 + 9 = 41, byte 41*40 = 1640. d 0x1234 @0, pads @2, code 0 @4,
// code 31 @35, the sum 127 - 128 = -1 @36.
TEST(Pad40Mirror, PutsOneHotChunkInItsBlockOf40Bytes) {
  const Shape shape(1, 512, 3);
  Bytes bytes(static_cast<size_t>(q8_0_format().size_bytes(shape)));
  const auto at = static_cast<size_t>((2 * 16 + 9) * 34);
  bytes[at] = std::byte{0x34};
  bytes[at + 1] = std::byte{0x12};
  bytes[at + 2] = std::byte{0x7f};
  bytes[at + 33] = std::byte{0x80};
  Bytes want(3 * 16 * 40);
  want[1640] = std::byte{0x34};
  want[1641] = std::byte{0x12};
  want[1644] = std::byte{0x7f};
  want[1675] = std::byte{0x80};
  for (const size_t sum : {1676u, 1677u, 1678u, 1679u}) want[sum] = std::byte{0xff};
  EXPECT_EQ(mirrored<q8_act::Pad40>(tensor("q8_0", shape, bytes)), want);
}

int32_t int32_at(const Bytes& bytes, int64_t at) {
  int32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

TEST(Pad40Mirror, SumsExtremeCodesIn32Bits) {
  const Shape shape(1, 256, 2);
  Bytes bytes(static_cast<size_t>(q8_0_format().size_bytes(shape)));
  for (size_t e = 0; e < 32; ++e) {
    bytes[2 + e] = std::byte{0x80};
    bytes[15 * 34 + 2 + e] = std::byte{0x7f};
  }
  const Bytes plane = mirrored<q8_act::Pad40>(tensor("q8_0", shape, bytes));
  EXPECT_EQ(int32_at(plane, 36), -4096);
  EXPECT_EQ(int32_at(plane, 15 * 40 + 36), 4064);
}

TEST(Pad40Mirror, LosesNothingAndAddsZerosAndSums) {
  for (const Shape& shape : {Shape(1, 256, 1), Shape(1, 768, 7), Shape(1, 2048, 257)}) {
    const Bytes bytes = random_activations(shape, 8);
    const Bytes plane = mirrored<q8_act::Pad40>(tensor("q8_0", shape, bytes));
    Bytes chunks;
    for (auto block = plane.begin(); block != plane.end(); block += 40) {
      chunks.insert(chunks.end(), block, block + 2);
      ASSERT_EQ(Bytes(block + 2, block + 4), Bytes(2)) << shape.text();
      chunks.insert(chunks.end(), block + 4, block + 36);
      int32_t sum = 0;
      for (int e = 0; e < 32; ++e) sum += static_cast<int8_t>(block[4 + e]);
      ASSERT_EQ(int32_at(plane, block + 36 - plane.begin()), sum) << shape.text();
    }
    EXPECT_EQ(chunks, bytes) << shape.text();
  }
}

}  // namespace
}  // namespace planegate
