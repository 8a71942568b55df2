#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/half.h"
#include "tests/oracle_fixture.h"

namespace planegate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Bytes quantised(const Shape& shape, const std::vector<float>& x) {
  Bytes bytes(x.size() * sizeof(float));
  std::memcpy(bytes.data(), x.data(), bytes.size());
  return q8_0_format().quantise(tensor("f32", shape, bytes));
}

std::vector<int> codes(const Bytes& chunk, int64_t n) {
  std::vector<int> out;
  for (int64_t e = 0; e < n; ++e) out.push_back(int8_at(chunk, 2 + e));
  return out;
}

std::vector<float> padded(std::vector<float> x) {
  x.resize(32);
  return x;
}

TEST(Q8Quantise, RoundsTiesToEven) {
  const Bytes chunk =
      quantised(Shape(1, 32), padded({127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 126.5f, 125.5f}));
  EXPECT_EQ(u16_at(chunk, 0), 0x3c00);  // amax 127: scale 1
  EXPECT_EQ(codes(chunk, 9), (std::vector<int>{127, 0, 2, 2, 0, -2, -2, 126, 126}));
}

// amax 100: scale 0.787402 in f32, 0.787598 as f16. 63.3937 * 127/100 = 80.51, and by the rounded
// scale 80.49.
TEST(Q8Quantise, DividesByTheScaleBeforeItsRoundingToF16) {
  const Bytes chunk = quantised(Shape(1, 32), padded({100, 63.3937f, -63.3937f}));
  EXPECT_EQ(oracle::f16_to_f64(u16_at(chunk, 0)), 0.78759765625);
  EXPECT_EQ(codes(chunk, 3), (std::vector<int>{127, 81, -81}));
}

TEST(Q8Quantise, TakesAmaxFromNegativeValuesToo) {
  EXPECT_EQ(codes(quantised(Shape(1, 32), padded({-254, 2, 254})), 3),
            (std::vector<int>{-127, 1, 127}));
}

TEST(Q8Quantise, GivesZeroScaleAndCodesToZeroChunks) {
  EXPECT_EQ(quantised(Shape(1, 32), padded({-0.0f})), Bytes(34));
}

TEST(Q8Quantise, GivesZeroCodesWhereTheReciprocalOverflows) {
  EXPECT_EQ(quantised(Shape(1, 32), padded({0x1p-149f, 0x1p-130f, -0x1p-140f})), Bytes(34));
}

// A scale below f16's range becomes 0 although the codes are those of the f32 scale.
TEST(Q8Quantise, KeepsCodesWhereTheScaleUnderflowsF16) {
  const Bytes chunk = quantised(Shape(1, 32), padded({1e-10f, -5e-11f}));
  EXPECT_EQ(u16_at(chunk, 0), 0);
  EXPECT_EQ(int8_at(chunk, 2), 127);
}

TEST(Q8Quantise, AgreesWithAnOutsideQuantiserWhereNoTieOccurs) {
  EXPECT_EQ(quantised(Shape(1, 256, 8), pinned<float>("q8_0_inputs.f32")),
            pinned<std::byte>("q8_0_chunks.bin"));
}

TEST(Q8Quantise, NamesTokenAndKOfANonFiniteInput) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    std::vector<float> x(3 * 64, 1.0f);
    x[2 * 64 + 41] = bad;
    x[2 * 64 + 50] = bad;
    EXPECT_THAT(refusal_of([&] { (void)quantised(Shape(1, 64, 3), x); }),
                AllOf(HasSubstr("token 2, k 41"), HasSubstr("not finite")));
  }
}

TEST(Q8Quantise, RefusesAnAmaxWhoseScaleOverflowsF16) {
  std::vector<float> x(2 * 64, 1.0f);
  x[64 + 40] = -65519.0f * 127;
  EXPECT_EQ(u16_at(quantised(Shape(1, 64, 2), x), 3 * 34), 0x7bff);
  x[64 + 40] = -65520.0f * 127;
  EXPECT_THAT(refusal_of([&] { (void)quantised(Shape(1, 64, 2), x); }),
              AllOf(HasSubstr("amax[token 1, k 32]"), HasSubstr("f16")));
}

TEST(Q8Quantise, NamesTheFirstOfManyFaultsWhateverTheThreads) {
  std::vector<float> x(512 * 256, 1.0f);
  for (size_t token = 77; token < 512; ++token) x[token * 256 + 5] = NAN;
  EXPECT_THAT(refusal_of([&] { (void)quantised(Shape(1, 256, 512), x); }),
              HasSubstr("token 77, k 5"));
}

TEST(Q8Quantise, TreatsEachTokenAsAlone) {
  const Shape shape(1, 512, 300);
  std::vector<float> x(300 * 512);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<float>(static_cast<int32_t>(payload(1, i))),
                      static_cast<int>(i / 512 % 20) - 30);
  }
  const Bytes all = quantised(shape, x);
  for (const size_t token : {0u, 1u, 150u, 299u}) {
    const auto at = static_cast<std::ptrdiff_t>(token);
    const Bytes own = quantised(Shape(1, 512), {x.begin() + at * 512, x.begin() + (at + 1) * 512});
    EXPECT_TRUE(std::equal(own.begin(), own.end(), all.begin() + at * 544)) << token;
  }
}

TEST(Q8Quantise, RefusesOtherFormatsAndSizes) {
  const Bytes bytes(128);
  EXPECT_THAT(refusal_of([&] {
                (void)q8_0_format().quantise(tensor("q8_0", {1, 32}, bytes));
              }),
              HasSubstr("format=q8_0"));
  EXPECT_THAT(refusal_of([&] {
                (void)q8_0_format().quantise(tensor("f32", {1, 64}, bytes));
              }),
              HasSubstr("raw.bytes=128"));
  EXPECT_THAT(refusal_of([&] {
                (void)q8_0_format().quantise(tensor("f32", {1, 40}, bytes));
              }),
              HasSubstr("id=40"));
}

TEST(Q8Oracle, DequantisesAsAnOutsideDecoder) {
  const auto chunks = pinned<std::byte>("q8_0_chunks.bin");
  const auto values = pinned<float>("q8_0_values.f32");
  ASSERT_EQ(values.size(), 2048u);
  for (int64_t token = 0; token < 8; ++token) {
    const auto x = dequantised(q8_0_format(), tensor("q8_0", Shape(1, 256, 8), chunks), token);
    for (size_t k = 0; k < 256; ++k) {
      ASSERT_EQ(std::bit_cast<uint32_t>(static_cast<float>(x[k])),
                std::bit_cast<uint32_t>(values[static_cast<size_t>(token) * 256 + k]));
    }
  }
}

TEST(Q8Oracle, CountsChunksAndRefusesAPartOfOne) {
  EXPECT_EQ(q8_0_format().size_bytes(Shape(5, 96, 7)), 7 * 3 * 34);
  EXPECT_EQ(refusal_of([] { (void)q8_0_format().size_bytes(Shape(1, 40)); }),
            "id=40: not a multiple of 32");
}

TEST(Q8Oracle, RefusesTokensThatAreNotThere) {
  const Bytes bytes(2 * 34);
  const RawTensor raw = tensor("q8_0", Shape(9, 32, 2), bytes);
  EXPECT_THAT(refusal_of([&] { (void)dequantised(q8_0_format(), raw, 2); }), HasSubstr("line=2"));
  std::vector<double> one(1);
  EXPECT_THAT(refusal_of([&] { q8_0_format().dequantise(raw, 0, 0, one); }), HasSubstr("values=1"));
  std::vector<double> chunk(32);
  EXPECT_THAT(refusal_of([&] { q8_0_format().dequantise(raw, 0, 8, chunk); }), HasSubstr("k=8"));
}

TEST(Q8Oracle, FindsTheFirstNonFiniteScale) {
  const Shape shape(1, 96, 3);
  Bytes bytes = random_activations(shape, 1);
  EXPECT_FALSE(q8_0_format().first_non_finite(tensor("q8_0", shape, bytes)).has_value());
  for (const size_t chunk : {5u, 8u}) {
    bytes[chunk * 34] = std::byte{0x00};
    bytes[chunk * 34 + 1] = std::byte{0x7c};
  }
  const auto found = q8_0_format().first_non_finite(tensor("q8_0", shape, bytes));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(std::pair(found->line, found->block), std::pair(int64_t{1}, int64_t{2}));
  EXPECT_EQ(found->f16_bits, 0x7c00);
}

/// Bytes of the q8_0 chunk of (token, chunk).
int64_t chunk_at(const Shape& shape, int64_t token, int64_t chunk) {
  return (token * (shape.id() / 32) + chunk) * 34;
}

TEST(Qa8Mirror, PutsToken69Element20OfChunk3WhereTheSwizzleSays) {
  const Shape shape(1, 256, 70);
  Bytes bytes(static_cast<size_t>(q8_0_format().size_bytes(shape)));
  bytes[static_cast<size_t>(chunk_at(shape, 69, 3)) + 2 + 20] = std::byte{77};
  Bytes want(2 * 8 * 2048);
  // Tile 1, token 5 of it: line 1 of 128 bytes (tokens 4..7); its second half is piece 1*2 + 1 = 3,
  // in slot 3 XOR 1 = 2; 4 bytes into the piece.
  want[(1 * 8 + 3) * 2048 + 1 * 128 + 2 * 16 + 4] = std::byte{77};
  EXPECT_EQ(mirrored<q8_act::Qa8>(tensor("q8_0", shape, bytes)), want);
}

/// Word of token r of a tile in sda, as the format's table gives it.
int64_t sda_word(int64_t r) {
  const int64_t g = r >> 4;
  return (g >> 1) * 32 + (r & 7) * 4 + (g & 1) * 2 + ((r >> 3) & 1);
}
/// Byte of word u of token r of a tile in qa8.
int64_t qa8_byte(int64_t r, int64_t u) {
  return (r & ~int64_t{3}) * 32 + ((((r & 3) * 2 + (u >> 2)) ^ ((r >> 2) & 7)) << 4) + (u & 3) * 4;
}

TEST(SdaMirror, PutsTokensWhereHandCountingSays) {
  const std::map<int64_t, int64_t> word_of_token = {
      {0, 0}, {8, 1}, {16, 2}, {24, 3}, {1, 4}, {7, 28}, {32, 32}, {41, 37}, {50, 42}, {63, 63}};
  for (const auto& [token, word] : word_of_token) {
    const Shape shape(1, 256, 64);
    Bytes bytes(static_cast<size_t>(q8_0_format().size_bytes(shape)));
    const auto at = static_cast<size_t>(chunk_at(shape, token, 1));
    bytes[at] = std::byte{0x34};
    bytes[at + 1] = std::byte{0x12};
    bytes[at + 2] = std::byte{0xff};  // codes -1 and 3: sum 2
    bytes[at + 33] = std::byte{3};
    Bytes want(8 * 256);
    const auto to = static_cast<size_t>(256 + word * 4);
    want[to] = std::byte{0x34};
    want[to + 1] = std::byte{0x12};
    want[to + 2] = std::byte{2};
    EXPECT_EQ(mirrored<q8_act::Sda>(tensor("q8_0", shape, bytes)), want) << token;
  }
}

TEST(SdaMirror, SumsExtremeCodesWithoutOverflow) {
  const Shape shape(1, 256, 2);
  Bytes bytes(static_cast<size_t>(q8_0_format().size_bytes(shape)));
  for (size_t e = 0; e < 32; ++e) {
    bytes[2 + e] = std::byte{0x80};
    bytes[8 * 34 + 2 + e] = std::byte{0x7f};
  }
  const Bytes plane = mirrored<q8_act::Sda>(tensor("q8_0", shape, bytes));
  EXPECT_EQ(static_cast<int16_t>(u16_at(plane, 2)), -4096);
  EXPECT_EQ(static_cast<int16_t>(u16_at(plane, 16 + 2)), 4064);
}

TEST(Qa8Mirror, IsABijectionOfEachTile) {
  std::set<int64_t> words;
  for (int64_t r = 0; r < 64; ++r) {
    for (int64_t u = 0; u < 8; ++u) words.insert(qa8_byte(r, u));
  }
  EXPECT_EQ(words.size(), 512u);
  const Shape shape(1, 256, 64);
  const Bytes bytes = lattice_of(q8_0_format(), shape, 1, {127, 1, false, 0});
  const Bytes plane = mirrored<q8_act::Qa8>(tensor("q8_0", shape, bytes));
  for (int64_t chunk = 0; chunk < 8; ++chunk) {
    std::multiset<std::vector<std::byte>> from;
    std::multiset<std::vector<std::byte>> to;
    for (int64_t piece = 0; piece < 128; ++piece) {
      const auto source = bytes.begin() + chunk_at(shape, piece / 2, chunk) + 2 + piece % 2 * 16;
      const auto target = plane.begin() + chunk * 2048 + piece * 16;
      from.insert({source, source + 16});
      to.insert({target, target + 16});
    }
    EXPECT_EQ(from, to) << chunk;
    EXPECT_EQ(std::set(from.begin(), from.end()).size(), 128u);
  }
}

TEST(SdaMirror, IsABijectionOfEachTile) {
  const Shape shape(1, 256, 64);
  Bytes bytes(static_cast<size_t>(q8_0_format().size_bytes(shape)));
  for (int64_t token = 0; token < 64; ++token) {
    for (int64_t chunk = 0; chunk < 8; ++chunk) {
      bytes[static_cast<size_t>(chunk_at(shape, token, chunk))] = static_cast<std::byte>(1 + token);
    }
  }
  const Bytes plane = mirrored<q8_act::Sda>(tensor("q8_0", shape, bytes));
  for (int64_t chunk = 0; chunk < 8; ++chunk) {
    std::set<int> seen;
    for (int64_t word = 0; word < 64; ++word) seen.insert(u16_at(plane, chunk * 256 + word * 4));
    EXPECT_EQ(seen.size(), 64u);
    EXPECT_EQ(std::pair(*seen.begin(), *seen.rbegin()), std::pair(1, 64));
  }
}

/// Both planes by the closed forms of the table, tails left zero.
std::pair<Bytes, Bytes> closed_form(const Shape& shape, const Bytes& bytes) {
  const int64_t chunks = shape.id() / 32;
  const int64_t tiles = (shape.nt() + 63) / 64;
  Bytes qa8(static_cast<size_t>(tiles * chunks * 2048));
  Bytes sda(static_cast<size_t>(tiles * chunks * 256));
  for (int64_t t = 0; t < shape.nt(); ++t) {
    for (int64_t c = 0; c < chunks; ++c) {
      const std::byte* chunk = bytes.data() + chunk_at(shape, t, c);
      const int64_t tile = t / 64 * chunks + c;
      int sum = 0;
      for (int e = 0; e < 32; ++e) sum += static_cast<int8_t>(chunk[2 + e]);
      for (int64_t u = 0; u < 8; ++u) {
        std::memcpy(qa8.data() + tile * 2048 + qa8_byte(t & 63, u), chunk + 2 + 4 * u, 4);
      }
      std::byte* word = sda.data() + tile * 256 + sda_word(t & 63) * 4;
      const auto low = static_cast<uint16_t>(sum);
      std::memcpy(word, chunk, 2);
      std::memcpy(word + 2, &low, 2);
    }
  }
  return {qa8, sda};
}

TEST(ActivationMirrors, AgreeWithTheClosedFormsAndLeaveTailsZero) {
  for (const Shape& shape : {Shape(1, 256, 1), Shape(1, 256, 64), Shape(1, 512, 65),
                             Shape(1, 512, 70), Shape(1, 1024, 130), Shape(1, 2048, 257)}) {
    const Bytes bytes = random_activations(shape, 7);
    const auto [qa8, sda] = closed_form(shape, bytes);
    EXPECT_EQ(mirrored<q8_act::Qa8>(tensor("q8_0", shape, bytes)), qa8) << shape.text();
    EXPECT_EQ(mirrored<q8_act::Sda>(tensor("q8_0", shape, bytes)), sda) << shape.text();
  }
}

TEST(ActivationMirrors, RefuseWrongSizesAndFormatsAndWriteNothing) {
  const Shape shape(1, 256, 3);
  const Bytes bytes(3 * 272);
  const Bytes longer(3 * 272 + 1);
  expect_refused_untouched<q8_act::Qa8>(tensor("f32", shape, bytes), 8 * 2048, "format=f32");
  expect_refused_untouched<q8_act::Qa8>(tensor("q8_0", shape, longer), 8 * 2048, "raw.bytes=817");
  expect_refused_untouched<q8_act::Qa8>(tensor("q8_0", shape, bytes), 8 * 2048 - 1, "qa8=16383");
  expect_refused_untouched<q8_act::Sda>(tensor("f32", shape, bytes), 8 * 256, "format=f32");
  expect_refused_untouched<q8_act::Sda>(tensor("q8_0", shape, longer), 8 * 256, "raw.bytes=817");
  expect_refused_untouched<q8_act::Sda>(tensor("q8_0", shape, bytes), 8 * 256 + 1, "sda=2049");
  expect_refused_untouched<q8_act::Pad40>(tensor("f32", shape, bytes), 960, "format=f32");
  expect_refused_untouched<q8_act::Pad40>(tensor("q8_0", shape, longer), 960, "raw.bytes=817");
  expect_refused_untouched<q8_act::Pad40>(tensor("q8_0", shape, bytes), 959, "pad40=959");
}

TEST(Q8Lattice, UsesEveryCodeOfItsRangeAndScaleOne) {
  const Shape shape(1, 256, 64);
  const Bytes bytes = lattice_of(q8_0_format(), shape, 1, {3, 1, false, 0});
  std::set<int> seen;
  for (int64_t chunk = 0; chunk < 64 * 8; ++chunk) {
    EXPECT_EQ(u16_at(bytes, chunk * 34), 0x3c00);
    for (int64_t e = 0; e < 32; ++e) seen.insert(int8_at(bytes, chunk * 34 + 2 + e));
  }
  EXPECT_EQ(seen, (std::set<int>{-3, -2, -1, 0, 1, 2, 3}));
}

TEST(Q8Lattice, CutsCodesAtMinus128To127) {
  const Bytes bytes = lattice_of(q8_0_format(), Shape(1, 1024, 64), 1, {500, 1, false, 0});
  std::set<int> seen;
  for (int64_t at = 0; at < static_cast<int64_t>(bytes.size()); at += 34) {
    for (int64_t e = 0; e < 32; ++e) seen.insert(int8_at(bytes, at + 2 + e));
  }
  EXPECT_EQ(seen.size(), 256u);
}

TEST(Q8Lattice, DrawsZeroAndSignedPowersOfTwoWithinTheWindowOfTheirToken) {
  const Bytes bytes = lattice_of(q8_0_format(), Shape(1, 256, 800), 2, {3, 1, true, 1});
  std::set<double> scales;
  for (int64_t token = 0; token < 800; ++token) {
    std::set<double> own;
    for (int64_t chunk = 0; chunk < 8; ++chunk) {
      const double d = oracle::f16_to_f64(u16_at(bytes, (token * 8 + chunk) * 34));
      scales.insert(d);
      if (d != 0) own.insert(std::fabs(d));
    }
    ASSERT_LE(*own.rbegin(), 2 * *own.begin()) << token;
  }
  EXPECT_EQ(scales.size(), 81u) << "80 and 0";
  EXPECT_EQ(*scales.rbegin(), 32768.0);
}

TEST(Q8Lattice, RepeatsNo16CodesAnywhere) {
  const Shape shape(1, 1024, 64);
  const Bytes bytes = lattice_of(q8_0_format(), shape, 3, {127, 1, false, 0});
  Bytes all;
  for (size_t at = 0; at < bytes.size(); at += 34) {
    const auto chunk = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    all.insert(all.end(), chunk + 2, chunk + 34);
  }
  EXPECT_FALSE(repeats_16_bytes(all));
}

// With one seed for both tensors, row j of W must not be token j of X.
TEST(Q8Lattice, IsIndependentOfTheWeightsOfTheSameSeed) {
  const Bytes w = lattice_of(q6_k_format(), Shape(1, 256), 1, {3, 1, false, 0});
  const Bytes x = lattice_of(q8_0_format(), Shape(1, 256), 1, {3, 1, false, 0});
  EXPECT_NE(dequantised(q6_k_format(), tensor("q6_K", {1, 256}, w), 0),
            dequantised(q8_0_format(), tensor("q8_0", {1, 256}, x), 0));
  const Bytes plane = mirrored<q6_k::WExp>(tensor("q6_K", {1, 256}, w));
  EXPECT_FALSE(std::equal(plane.begin(), plane.begin() + 32, x.begin() + 2));
}

}  // namespace
}  // namespace planegate
