#include <bit>

#include <planegate/core/hash.h>

#include "tests/producer_fixture.h"

namespace planegate::test {
namespace {

using ::testing::Each;

TEST(Q6KRawProducer, CopiesTheFilesBlocks) {
  Weights w(Shape(3, 512));
  for (size_t i = 0; i < w.bytes.size(); ++i) w.bytes[i] = static_cast<std::byte>(payload(1, i));
  EXPECT_EQ(produce("raw", w.raw()), w.bytes);
}

TEST(Q6KWExpProducer, CentresCodesAt32) {
  const Weights w(Shape(3, 512));
  EXPECT_THAT(produce("w_exp", w.raw()), Each(std::byte{0xE0}));
}

TEST(Q6KWExpProducer, PutsOneQlByteIntoWeights64Apart) {
  Weights w(Shape(2, 512));
  // Block 3 = row 1, super-block 1. ql[64 + 5]: half 1, weights 128 + 5 and 128 + 5 + 64.
  w.at(3, 64 + 5) = std::byte{0xA7};
  const auto plane = produce("w_exp", w.raw());
  const int64_t block = 1 * 512 + 1 * 256;
  EXPECT_EQ(signed_at(plane, block + 133), 0x7 - 32);
  EXPECT_EQ(signed_at(plane, block + 197), 0xA - 32);
  EXPECT_EQ(signed_at(plane, block + 134), -32);
}

TEST(Q6KWExpProducer, PutsOneQlByteOfTheUpper32IntoItsOwnWeights) {
  Weights w(Shape(1, 256));
  w.at(0, 40) = std::byte{0x1F};
  const auto plane = produce("w_exp", w.raw());
  EXPECT_EQ(signed_at(plane, 40), 15 - 32);
  EXPECT_EQ(signed_at(plane, 104), 1 - 32);
}

TEST(Q6KWExpProducer, PutsOneQhByteIntoFourWeights32Apart) {
  Weights w(Shape(1, 256));
  // qh[1] = 0b11'10'01'00 serves weights 1, 33, 65, 97: 0, 1, 2 and 3 times 16.
  w.at(0, 128 + 1) = std::byte{0xE4};
  const auto plane = produce("w_exp", w.raw());
  EXPECT_EQ(signed_at(plane, 1), 0 - 32);
  EXPECT_EQ(signed_at(plane, 33), 16 - 32);
  EXPECT_EQ(signed_at(plane, 65), 32 - 32);
  EXPECT_EQ(signed_at(plane, 97), 48 - 32);
  EXPECT_EQ(signed_at(plane, 129), -32);
}

TEST(Q6KWExpProducer, ReachesTheTopCodeInTheLastWeight) {
  Weights w(Shape(2, 256));
  w.at(1, 127) = std::byte{0xF0};
  w.at(1, 128 + 63) = std::byte{0xC0};
  EXPECT_EQ(signed_at(produce("w_exp", w.raw()), 511), 31);
}

TEST(Q6KPaddedProducer, MovesBlocksTo224BytesAndZeroesThe14Behind) {
  Weights w(Shape(3, 512));
  for (size_t i = 0; i < w.bytes.size(); ++i) {
    w.bytes[i] = static_cast<std::byte>(1 + payload(1, i) % 255);
  }
  const auto plane = produce("padded", w.raw());
  ASSERT_EQ(plane.size(), 3u * 2 * 224);
  for (int64_t at = 0; at < std::ssize(plane); ++at) {
    const int64_t block = at / 224, inside = at % 224;
    const std::byte want = inside < 210 ? w.at(block, inside) : std::byte{0};
    ASSERT_EQ(plane[static_cast<size_t>(at)], want) << "block " << block << " byte " << inside;
  }
}

float product_at(const std::vector<std::byte>& plane, int64_t index) {
  return std::bit_cast<float>(word_at(plane, index));
}

void set_d(Weights& w, int64_t block, uint16_t half) {
  w.at(block, 208) = static_cast<std::byte>(half & 0xFF);
  w.at(block, 209) = static_cast<std::byte>(half >> 8);
}

TEST(Q6KWDscProducer, PutsThePairOfChunkCOfRowJAtCTimesOdPlusJ) {
  Weights w(Shape(4, 512));
  // Block 5 = row 2, super-block 1; d = 1.5. sc[6], sc[7]: chunk 8 + 3.
  set_d(w, 5, 0x3E00);
  w.at(5, 192 + 6) = std::byte{0x81};
  w.at(5, 192 + 7) = std::byte{7};
  const auto plane = produce("w_dsc", w.raw());
  ASSERT_EQ(plane.size(), 4u * 512 / 4);
  const int64_t pair = 11 * 4 + 2;
  EXPECT_EQ(product_at(plane, 2 * pair), 1.5f * -127.0f);
  EXPECT_EQ(product_at(plane, 2 * pair + 1), 1.5f * 7.0f);
  // Bytes that are not 0: -190.5f = 0xC33E8000 has three, 10.5f = 0x41280000 two.
  EXPECT_EQ(std::ranges::count(plane, std::byte{0}), std::ssize(plane) - 5);
}

TEST(Q6KWDscProducer, RoundsAnOddOdUpByARowOfZeros) {
  Weights w(Shape(3, 256));
  for (int64_t block = 0; block < 3; ++block) {
    set_d(w, block, 0x3C00);
    for (int64_t sub = 0; sub < 16; ++sub) {
      w.at(block, 192 + sub) = static_cast<std::byte>(100 * (block != 0) + sub + 1);
    }
  }
  const auto plane = produce("w_dsc", w.raw());
  ASSERT_EQ(plane.size(), 4u * 256 / 4);
  for (int64_t c = 0; c < 8; ++c) {
    const int64_t chunk = c * 4 * 2;
    EXPECT_EQ(product_at(plane, chunk + 0), static_cast<float>(2 * c + 1)) << "row 0, chunk " << c;
    EXPECT_EQ(product_at(plane, chunk + 5), static_cast<float>(102 + 2 * c))
        << "row 2, chunk " << c;
    EXPECT_EQ(word_at(plane, chunk + 6), 0u) << "extra row, chunk " << c;
    EXPECT_EQ(word_at(plane, chunk + 7), 0u) << "extra row, chunk " << c;
  }
}

TEST(Q6KWDscProducer, ReachesTheLastPairBeyondOneTileOfRows) {
  Weights w(Shape(257, 512));
  set_d(w, 256 * 2 + 1, 0x3C00);
  w.at(256 * 2 + 1, 192 + 15) = std::byte{5};
  const auto plane = produce("w_dsc", w.raw());
  EXPECT_EQ(product_at(plane, (15 * 258 + 256) * 2 + 1), 5.0f);
  EXPECT_EQ(std::ranges::count(plane, std::byte{0}), std::ssize(plane) - 2) << "5.0f = 0x40A00000";
}

/// d * -3 as the plane holds it.
float tripled(uint16_t half) {
  Weights w(Shape(1, 256));
  set_d(w, 0, half);
  w.at(0, 192) = std::byte{0xFD};
  return product_at(produce("w_dsc", w.raw()), 0);
}

TEST(Q6KWDscProducer, MultipliesEveryF16Exactly) {
  EXPECT_EQ(tripled(0x0001), -3 * 0x1p-24f) << "the smallest subnormal";
  EXPECT_EQ(tripled(0x03FF), -3 * 1023 * 0x1p-24f) << "the largest subnormal";
  EXPECT_EQ(tripled(0x0400), -3 * 0x1p-14f) << "the smallest normal";
  EXPECT_EQ(tripled(0x3555), -3 * 1365 * 0x1p-12f);
  EXPECT_EQ(tripled(0x7BFF), -3 * 65504.0f);
  EXPECT_EQ(tripled(0xFBFF), 3 * 65504.0f);
  EXPECT_EQ(tripled(0x8001), 3 * 0x1p-24f);
  EXPECT_EQ(std::bit_cast<uint32_t>(tripled(0x0000)), 0x8000'0000u) << "0 * -3 is -0 in IEEE f32";
  EXPECT_EQ(std::bit_cast<uint32_t>(tripled(0x8000)), 0u);
}

TEST(Q6KWDscProducer, NamesTheFirstScaleThatIsNotFinite) {
  Weights w(Shape(3, 512));
  set_d(w, 5, 0xFC00);
  expect_refused_untouched("w_dsc", w.raw(), 512,
                           "d[row 2, super-block 1]=0xfc00: not a finite f16");
  set_d(w, 3, 0x7E01);
  expect_refused_untouched("w_dsc", w.raw(), 512,
                           "d[row 1, super-block 1]=0x7e01: not a finite f16");
}

TEST(Q6KProducers, RefuseWrongSizesBeforeWriting) {
  Weights w(Shape(2, 512));
  expect_refused_untouched("w_exp", w.raw(), 1023, "plane.size()=1023: 1024 bytes");
  expect_refused_untouched("raw", w.raw(), 841, "plane.size()=841: 840 bytes");
  expect_refused_untouched("padded", w.raw(), 840, "plane.size()=840: 896 bytes");
  expect_refused_untouched("w_dsc", w.raw(), 255, "plane.size()=255: 256 bytes");
  w.bytes.pop_back();
  expect_refused_untouched("w_exp", w.raw(), 1024, "raw.bytes.size()=839: 840 bytes");
  expect_refused_untouched("raw", w.raw(), 840, "raw.bytes.size()=839: 840 bytes");
  expect_refused_untouched("padded", w.raw(), 896, "raw.bytes.size()=839: 840 bytes");
  expect_refused_untouched("w_dsc", w.raw(), 256, "raw.bytes.size()=839: 840 bytes");
}

TEST(Q6KProducers, RefuseAnotherFormatAndARaggedId) {
  const Weights w(Shape(2, 512));
  for (const std::string plane : {"raw", "padded", "w_exp", "w_dsc"}) {
    RawTensor raw = w.raw();
    const int64_t size_bytes = catalog().producer(plane)->plane->size_bytes(raw.shape);
    raw.format = "q8_0";
    expect_refused_untouched(plane, raw, size_bytes, "raw.format=q8_0: q6_K");
    raw = w.raw();
    raw.shape = Shape(2, 640);
    expect_refused_untouched(plane, raw, size_bytes, "id=640: not a multiple of 256");
  }
}

}  // namespace
}  // namespace planegate::test
