#include <cmath>
#include <limits>

#include "tests/producer_fixture.h"

namespace planegate::test {
namespace {

TEST(Q8ActProducers, PutOneElementWhereTheTileWantsIt) {
  Activations x(Shape(1, 256, 70));
  // Token 69: tile 1, r 5. k 52: chunk 1, 20 in it: u 5, piece (1*2 + 1) ^ 1 = 2 of 128-byte
  // line 1.
  x.at(69, 52) = -63.5f;
  const auto codes = produce("qa8", x.raw());
  const int64_t tile = (1 * 8 + 1) * 2048;
  EXPECT_EQ(signed_at(codes, tile + 4 * 32 + 2 * 16 + 4), -127);
  // Token 69: word 0*32 + 5*4 of the same tile. d = 0.5 = 0x3800, sum -127.
  const auto words = produce("sda", x.raw());
  EXPECT_EQ(word_at(words, (1 * 8 + 1) * 64 + 20), 0xFF81'3800u);
}

TEST(Q8ActProducers, OrderScaleWordsByTheBitsOfTheToken) {
  Activations x(Shape(1, 256, 64));
  for (int64_t token = 0; token < 64; ++token) {
    x.at(token, 0) = 127.0f;
    x.at(token, 1) = static_cast<float>(token);
  }
  const auto words = produce("sda", x.raw());
  const auto sum_at = [&](int64_t word) { return word_at(words, word) >> 16; };
  EXPECT_EQ(sum_at(1 * 4 + 0 * 2 + 1), 127u + 9) << "token 9 = 8 (half) + 1 (q)";
  EXPECT_EQ(sum_at(1 * 4 + 1 * 2 + 0), 127u + 17) << "token 17 = 16 (gsel) + 1 (q)";
  EXPECT_EQ(sum_at(32 + 2 * 4), 127u + 34) << "token 34 = 32 (rg) + 2 (q)";
  EXPECT_EQ(sum_at(63), 127u + 63);
}

TEST(Q8ActPad40Producer, PutsScaleCodesAndSumOfAChunkInto40Bytes) {
  Activations x(Shape(1, 512, 3));
  // Token 2, chunk 9 = k 288..319: largest 63.5, d = 0.5 = 0x3800, codes 127, -2 and 1, sum 126.
  x.at(2, 288) = 63.5f;
  x.at(2, 289) = -1.0f;
  x.at(2, 319) = 0.5f;
  const auto plane = produce("pad40", x.raw());
  ASSERT_EQ(plane.size(), 3u * 16 * 40);
  const int64_t block = (2 * 16 + 9) * 40;
  EXPECT_EQ(word_at(plane, block / 4), 0x3800u) << "d, and the padding above it";
  EXPECT_EQ(signed_at(plane, block + 4), 127);
  EXPECT_EQ(signed_at(plane, block + 5), -2);
  EXPECT_EQ(signed_at(plane, block + 35), 1);
  EXPECT_EQ(word_at(plane, block / 4 + 9), 126u);
  // 0x38, 127, -2, 1 and 126 are all bytes that are not zero.
  EXPECT_EQ(std::ranges::count(plane, std::byte{0}), std::ssize(plane) - 5);
}

TEST(Q8ActPad40Producer, KeepsTheWholeSumWithItsSign) {
  Activations x(Shape(1, 256, 1));
  for (int64_t k = 0; k < 32; ++k) x.at(0, 32 + k) = -1.0f;
  const auto plane = produce("pad40", x.raw());
  EXPECT_EQ(static_cast<int32_t>(word_at(plane, 10 + 9)), -127 * 32);
}

TEST(Q8ActPad40Producer, QuantisesAsTheTilesDo) {
  Activations x(Shape(1, 256, 2));
  for (size_t i = 0; i < x.values.size(); ++i) {
    x.values[i] = std::sin(static_cast<float>(i)) * static_cast<float>(1 + i % 7);
  }
  const auto pad40 = produce("pad40", x.raw());
  const auto qa8 = produce("qa8", x.raw());
  const auto sda = produce("sda", x.raw());
  for (int64_t c = 0; c < 8; ++c) {
    // Token 1 of a tile: bytes 32..63, word 4.
    const int64_t block = (8 + c) * 40;
    for (int64_t k = 0; k < 32; ++k) {
      ASSERT_EQ(signed_at(pad40, block + 4 + k), signed_at(qa8, c * 2048 + 32 + k))
          << "chunk " << c << " k " << k;
    }
    const uint32_t word = word_at(sda, c * 64 + 4);
    EXPECT_EQ(word_at(pad40, block / 4), word & 0xFFFF) << "chunk " << c;
    EXPECT_EQ(word_at(pad40, block / 4 + 9) & 0xFFFF, word >> 16) << "chunk " << c;
  }
}

TEST(Q8ActProducers, ZeroEverythingElse) {
  Activations x(Shape(1, 256, 3));
  x.at(1, 0) = 127.0f;
  const auto nonzero = [](const std::vector<std::byte>& plane) {
    return std::ranges::count_if(plane, [](std::byte b) { return b != std::byte{0}; });
  };
  EXPECT_EQ(nonzero(produce("qa8", x.raw())), 1);
  // d = 1.0 = 0x3C00 and sum 127 = 0x007F: two bytes that are not zero.
  EXPECT_EQ(nonzero(produce("sda", x.raw())), 2);
}

TEST(Q8ActProducers, RoundHalvesToEven) {
  Activations x(Shape(1, 256, 1));
  const float values[] = {127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 126.5f};
  for (int64_t k = 0; k < 8; ++k) x.at(0, k) = values[k];
  const auto plane = produce("qa8", x.raw());
  const int codes[] = {127, 0, 2, 2, 0, -2, -2, 126};
  for (int64_t k = 0; k < 8; ++k) EXPECT_EQ(signed_at(plane, k), codes[k]) << "k " << k;
}

TEST(Q8ActProducers, UseTheReciprocalOfTheUnroundedScale) {
  Activations x(Shape(1, 256, 1));
  // scale = 1/127 = 0x1.020408p-7, as f16 0x1.020p-7 (0x2008): 63.498/127 times 127 is 63.498,
  // over the rounded scale 63.502.
  x.at(0, 0) = 1.0f;
  x.at(0, 1) = 63.498f / 127.0f;
  EXPECT_EQ(signed_at(produce("qa8", x.raw()), 1), 63);
  EXPECT_EQ(word_at(produce("sda", x.raw()), 0), (190u << 16) | 0x2008u);
}

/// The f16 scale of a chunk whose largest element is `scale * 127`.
uint32_t f16_scale(float scale) {
  Activations x(Shape(1, 256, 1));
  x.at(0, 31) = -scale * 127.0f;
  return word_at(produce("sda", x.raw()), 0) & 0xFFFF;
}

TEST(Q8ActProducers, RoundTheScaleToF16) {
  EXPECT_EQ(f16_scale(1.0f), 0x3C00u);
  EXPECT_EQ(f16_scale(1.0f + 0x1p-11f), 0x3C00u) << "a tie, to even";
  EXPECT_EQ(f16_scale(1.0f + 3 * 0x1p-11f), 0x3C02u) << "a tie, to even";
  EXPECT_EQ(f16_scale(1.0f + 0x1.8p-11f), 0x3C01u);
  EXPECT_EQ(f16_scale(2.0f - 0x1p-12f), 0x4000u) << "carries into the exponent";
  EXPECT_EQ(f16_scale(65504.0f), 0x7BFFu);
}

TEST(Q8ActProducers, RoundSubnormalScalesToF16) {
  EXPECT_EQ(f16_scale(0x1p-14f), 0x0400u);
  EXPECT_EQ(f16_scale(0x1p-15f), 0x0200u);
  EXPECT_EQ(f16_scale(0x1p-24f), 0x0001u);
  EXPECT_EQ(f16_scale(0x1p-25f), 0x0000u) << "a tie, to even";
  EXPECT_EQ(f16_scale(0x1.8p-24f), 0x0002u) << "a tie, to even";
  EXPECT_EQ(f16_scale(0x1.FFCp-15f), 0x0400u) << "up to the smallest normal";
}

TEST(Q8ActProducers, WriteZeroCodesWhereTheReciprocalOfATinyScaleIsInfinite) {
  for (const float tiny : {std::numeric_limits<float>::denorm_min(), 0x1p-123f}) {
    Activations x(Shape(1, 256, 1));
    x.at(0, 0) = tiny;
    x.at(0, 1) = -tiny;
    const auto plane = produce("qa8", x.raw());
    EXPECT_EQ(signed_at(plane, 0), 0);
    EXPECT_EQ(signed_at(plane, 1), 0);
  }
}

TEST(Q8ActProducers, RefuseAScaleBeyondF16) {
  for (const float x0 : {std::numeric_limits<float>::max(), -65520.0f * 127.0f}) {
    Activations x(Shape(1, 256, 1));
    x.at(0, 3) = x0;
    EXPECT_THROW(produce("sda", x.raw()), ContractError);
  }
}

TEST(Q8ActProducers, NameTheFirstNonFiniteElement) {
  for (const std::string plane : {"qa8", "sda", "pad40"}) {
    Activations x(Shape(1, 512, 3));
    const int64_t size_bytes = catalog().producer(plane)->plane->size_bytes(x.shape);
    x.at(2, 0) = std::numeric_limits<float>::infinity();
    x.at(1, 300) = std::nanf("");
    expect_refused_untouched(plane, x.raw(), size_bytes, "x[token 1, k 300]=nan");
    x.at(1, 300) = 0.0f;
    expect_refused_untouched(plane, x.raw(), size_bytes, "x[token 2, k 0]=inf: finite, and");
  }
}

TEST(Q8ActProducers, RefuseWrongSizesAndFormats) {
  Activations x(Shape(1, 256, 3));
  expect_refused_untouched("qa8", x.raw(), 16383, "plane.size()=16383: 16384 bytes");
  expect_refused_untouched("sda", x.raw(), 2049, "plane.size()=2049: 2048 bytes");
  expect_refused_untouched("pad40", x.raw(), 961, "plane.size()=961: 960 bytes");
  RawTensor raw = x.raw();
  raw.format = "q8_0";
  expect_refused_untouched("sda", raw, 2048, "raw.format=q8_0: f32");
  expect_refused_untouched("pad40", raw, 960, "raw.format=q8_0: f32");
  x.values.pop_back();
  expect_refused_untouched("qa8", x.raw(), 16384, "raw.bytes.size()=3068: 3072 bytes");
}

TEST(Q8ActProducers, ReadActivationsAtAnyAddress) {
  Activations x(Shape(1, 256, 2));
  for (size_t i = 0; i < x.values.size(); ++i) x.values[i] = static_cast<float>(i);
  std::vector<std::byte> shifted(x.values.size() * 4 + 1);
  std::memcpy(shifted.data() + 1, x.values.data(), x.values.size() * 4);
  RawTensor raw = x.raw();
  raw.bytes = std::span<const std::byte>(shifted).subspan(1);
  for (const std::string plane : {"qa8", "sda", "pad40"}) {
    EXPECT_EQ(produce(plane, raw), produce(plane, x.raw())) << plane;
  }
}

}  // namespace
}  // namespace planegate::test
