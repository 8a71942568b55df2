#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>
#include <planegate/producers/q6_k/producers.h>
#include <planegate/producers/q8_act/producers.h>

namespace planegate {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::byte kUntouched{0x77};

const Catalog& catalog() {
  static const Catalog all = [] {
    Catalog made;
    producers::q6_k::register_producers(made);
    producers::q8_act::register_producers(made);
    return made;
  }();
  return all;
}

std::vector<std::byte> plane_for(const std::string& name, const Shape& shape) {
  const int64_t size_bytes = catalog().producer(name)->plane->size_bytes(shape);
  return std::vector<std::byte>(static_cast<size_t>(size_bytes), kUntouched);
}

std::vector<std::byte> produce(const std::string& name, const RawTensor& raw) {
  std::vector<std::byte> plane = plane_for(name, raw.shape);
  catalog().producer(name)->write(raw, plane);
  return plane;
}

void expect_refused_untouched(const std::string& name, const RawTensor& raw, int64_t plane_bytes,
                              const std::string& reason) {
  std::vector<std::byte> plane(static_cast<size_t>(plane_bytes), kUntouched);
  EXPECT_THAT([&] { catalog().producer(name)->write(raw, plane); },
              ThrowsMessage<ContractError>(HasSubstr(reason)));
  EXPECT_THAT(plane, Each(kUntouched));
}

int signed_at(const std::vector<std::byte>& plane, int64_t at) {
  return static_cast<int8_t>(plane[static_cast<size_t>(at)]);
}

uint32_t word_at(const std::vector<std::byte>& plane, int64_t index) {
  uint32_t word = 0;
  std::memcpy(&word, plane.data() + index * 4, sizeof(word));
  return word;
}

struct Weights {
  explicit Weights(const Shape& s) : shape(s), bytes(static_cast<size_t>(s.od() * s.nsb() * 210)) {}
  RawTensor raw() const { return {"w", "q6_K", shape, bytes}; }
  std::byte& at(int64_t block, int64_t offset) {
    return bytes[static_cast<size_t>(block * 210 + offset)];
  }
  Shape shape;
  std::vector<std::byte> bytes;
};

struct Activations {
  explicit Activations(const Shape& s)
      : shape(s), values(static_cast<size_t>(s.nt() * s.id()), 0.0f) {}
  RawTensor raw() const { return {"x", "f32", shape, std::as_bytes(std::span(values))}; }
  float& at(int64_t token, int64_t k) {
    return values[static_cast<size_t>(token * shape.id() + k)];
  }
  Shape shape;
  std::vector<float> values;
};

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

TEST(Q6KProducers, RefuseWrongSizesBeforeWriting) {
  Weights w(Shape(2, 512));
  expect_refused_untouched("w_exp", w.raw(), 1023, "plane.size()=1023: 1024 bytes");
  expect_refused_untouched("raw", w.raw(), 841, "plane.size()=841: 840 bytes");
  w.bytes.pop_back();
  expect_refused_untouched("w_exp", w.raw(), 1024, "raw.bytes.size()=839: 840 bytes");
  expect_refused_untouched("raw", w.raw(), 840, "raw.bytes.size()=839: 840 bytes");
}

TEST(Q6KProducers, RefuseAnotherFormatAndARaggedId) {
  const Weights w(Shape(2, 512));
  RawTensor raw = w.raw();
  raw.format = "q8_0";
  expect_refused_untouched("w_exp", raw, 1024, "raw.format=q8_0: q6_K");
  raw = w.raw();
  raw.shape = Shape(2, 640);
  expect_refused_untouched("w_exp", raw, 1280, "id=640: not a multiple of 256");
}

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
  for (const std::string plane : {"qa8", "sda"}) {
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
  RawTensor raw = x.raw();
  raw.format = "q8_0";
  expect_refused_untouched("sda", raw, 2048, "raw.format=q8_0: f32");
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
  EXPECT_EQ(produce("qa8", raw), produce("qa8", x.raw()));
}

}  // namespace
}  // namespace planegate
