#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/oracle_gemm_fixture.h"

namespace planegate {
namespace {

using oracle::exact_in_f32;
using oracle::gemm;
using oracle::Reference;
using testing::HasSubstr;

/// y and sum |terms| of one element in long double, term by term.
std::pair<long double, long double> naive(const std::vector<double>& w,
                                          const std::vector<double>& x, size_t exact_elems) {
  long double y = 0;
  long double magnitude = 0;
  for (size_t k = 0; k < w.size(); k += exact_elems) {
    long double term = 0;
    for (size_t e = k; e < k + exact_elems; ++e) term += static_cast<long double>(w[e]) * x[e];
    y += term;
    magnitude += std::fabs(term);
  }
  return {y, magnitude};
}

class GemmShapes : public testing::TestWithParam<std::tuple<Shape, int64_t>> {};

TEST_P(GemmShapes, AgreeWithTheTripleLoopInLongDouble) {
  const auto& [shape, exact_elems] = GetParam();
  const Operands operands = random_operands(shape, 10);
  const Reference reference = operands.reference({exact_elems, 2, ""});
  ASSERT_EQ(reference.shape, shape);
  const double terms = static_cast<double>(shape.id() / exact_elems);
  for (int64_t t = 0; t < shape.nt(); ++t) {
    const auto x = dequantised(q8_0_format(), operands.activations(), t);
    for (int64_t j = 0; j < shape.od(); ++j) {
      const auto w = dequantised(q6_k_format(), operands.weights(), j);
      const auto [y, magnitude] = naive(w, x, static_cast<size_t>(exact_elems));
      const auto at = static_cast<size_t>(t * shape.od() + j);
      ASSERT_LE(std::fabs(reference.y[at] - y), terms * 0x1p-53L * magnitude) << j << " " << t;
      ASSERT_LE(std::fabs(reference.magnitude[at] - magnitude), terms * 0x1p-53L * magnitude);
    }
  }
}

std::string shape_name(const testing::TestParamInfo<std::tuple<Shape, int64_t>>& info) {
  const auto& [shape, elems] = info.param;
  return "od" + std::to_string(shape.od()) + "_id" + std::to_string(shape.id()) + "_nt" +
         std::to_string(shape.nt()) + "_over" + std::to_string(elems);
}

INSTANTIATE_TEST_SUITE_P(
    Gemm, GemmShapes,
    testing::Values(std::tuple(Shape(1, 256, 1), 16), std::tuple(Shape(70, 512, 3), 16),
                    std::tuple(Shape(33, 768, 130), 16), std::tuple(Shape(65, 256, 129), 4),
                    std::tuple(Shape(3, 512, 2), 1), std::tuple(Shape(32, 256, 128), 8)),
    shape_name);

TEST(Lattice, IsExactWhereTheLargestSumStaysBelow2To24) {
  const std::tuple<int64_t, int64_t, int64_t> ranges[] = {{3, 2, 2}, {31, 4, 8}, {1, 128, 16}};
  for (const auto& [code, scale, act] : ranges) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const Shape shape(70, 512, 3);
      ASSERT_LT(code * scale * act * shape.id(), int64_t{1} << 24);
      EXPECT_TRUE(lattice_operands(shape, seed, {code, scale}, {act}).exact())
          << code << " " << seed;
    }
  }
}

TEST(Lattice, GivesBitEqualF32SumsInAnyOrder) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const Operands operands =
        lattice_operands(Shape(3, 512, 2), seed, {3, 2, true, 2}, {2, 1, true, 2});
    ASSERT_TRUE(operands.exact()) << seed;
    const Reference reference = operands.reference();
    for (int64_t at = 0; at < 6; ++at) {
      const auto terms = terms_of(operands, at % 3, at / 3);
      for (const size_t step : {1, 31, 5, 13}) {
        ASSERT_EQ(chain_sum(terms, step), reference.y[static_cast<size_t>(at)]);
      }
    }
  }
}

TEST(Lattice, IsExactWhenScaledOverManySeeds) {
  // 3*2*2*512 = 6144, and windows of 3 and 4 lower the unit by at most 2^7: 786,432 < 2^24.
  for (uint64_t seed = 0; seed < 200; ++seed) {
    ASSERT_TRUE(lattice_operands(Shape(9, 512, 5), seed, {3, 2, true, 3}, {2, 1, true, 4}).exact())
        << seed;
  }
}

TEST(Lattice, IsExactWhenScaledOverManyTiles) {
  EXPECT_TRUE(lattice_operands(Shape(70, 512, 130), 1, {3, 2, true, 3}, {2, 1, true, 4}).exact());
}

TEST(Lattice, IsInexactWhenWindowsAreTooWide) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_FALSE(
        lattice_operands(Shape(9, 1024, 5), seed, {3, 2, true, 12}, {2, 1, true, 12}).exact())
        << seed;
  }
}

TEST(Lattice, IsInexactWithFullRanges) {
  EXPECT_FALSE(lattice_operands(Shape(2, 2048, 2), 1, {32, 128}, {128}).exact());
}

/// W and X of one value each: `code` * `sc` and `act`.
Operands constant_operands(int code, int sc, int act) {
  const Shape shape(1, 256, 1);
  oracle::q6_k::Block block;
  block.codes.fill(static_cast<uint8_t>(code + 32));
  block.sc.fill(static_cast<int8_t>(sc));
  block.d_bits = 0x3c00;
  Operands operands{shape, Bytes(210), Bytes(8 * 34, static_cast<std::byte>(act))};
  oracle::q6_k::encode(block, operands.w.data());
  for (size_t chunk = 0; chunk < 8; ++chunk) oracle::store_f16(0x3c00, &operands.x[chunk * 34]);
  return operands;
}

// 31 * 127 * 256 = 1,007,872, and 2^24 = 16,777,216 lies between its 16- and its 17-fold.
TEST(ExactInF32, TurnsAt2To24Units) {
  EXPECT_TRUE(constant_operands(31, 127, 15).exact());
  EXPECT_FALSE(constant_operands(31, 127, 17).exact());
}

TEST(ExactInF32, CountsInUnitsOfTheValuesNotInOnes) {
  EXPECT_TRUE(constant_operands(31, 127, 32).exact());     // unit 32
  EXPECT_TRUE(constant_operands(-32, -128, 127).exact());  // unit 4096
  EXPECT_FALSE(constant_operands(31, -127, 34).exact());   // unit 2
}

bool exact_constants(double w, double x) {
  const Shape shape(2, 32, 2);
  return exact_in_f32(constant_format("w", Role::kWeights, w), {"w", "w", shape, {}},
                      constant_format("x", Role::kActivations, x), {"x", "x", shape, {}});
}

TEST(ExactInF32, WantsAUnitAndASumWithinF32) {
  EXPECT_TRUE(exact_constants(0x1p-100, 0x1p-49));
  EXPECT_FALSE(exact_constants(0x1p-100, 0x1p-50));
  EXPECT_TRUE(exact_constants(0x1p60, 0x1p62));
  EXPECT_FALSE(exact_constants(0x1p60, 0x1p63));  // 32 * 2^123 = 2^128
  EXPECT_TRUE(exact_constants(0, 0x1p-149));
}

// A sum of 2^24 in units of 1: the first element of X makes it so, or 1 less.
TEST(ExactInF32, EndsJustBelow2To24Units) {
  const Shape shape(1, 32, 1);
  const FormatOracle w = constant_format("w", Role::kWeights, 1);
  for (const auto& [first, exact] : {std::pair(0x1p24 - 32, true), {0x1p24 - 31, false}}) {
    const FormatOracle x = constant_format("x", Role::kActivations, 1, first);
    EXPECT_EQ(exact_in_f32(w, {"w", "w", shape, {}}, x, {"x", "x", shape, {}}), exact);
  }
}

TEST(ExactInF32, HasUnitsOfTheLowestBit) {
  // 32 * (2^19 - 1) < 2^24, and 32 * (2^19 + 1) is not.
  EXPECT_TRUE(exact_constants(0x1p19 - 1, 1));
  EXPECT_FALSE(exact_constants(0x1p19 + 1, 1));
  EXPECT_TRUE(exact_constants(0x1p-9, 0x1p19 - 1));
  EXPECT_FALSE(exact_constants(0x1p-9, 0x1p19 + 1));
}

TEST(Gemm, ThrowsToItsCallerWhatADequantiserThrows) {
  const Shape shape(100, 32, 2);
  FormatOracle w = constant_format("w", Role::kWeights, 1);
  w.dequantise = [](const RawTensor&, int64_t line, int64_t, std::span<double>) {
    require(line < 50, "line", line, "broken");
  };
  const FormatOracle x = constant_format("x", Role::kActivations, 1);
  EXPECT_EQ(refusal_of([&] {
              (void)gemm(w, {"w", "w", shape, {}}, x, {"x", "x", shape, {}}, {1, 1, ""});
            }),
            "line=50: broken");
}

/// Refusals of both entry points, which must be the same.
std::string refused(const FormatOracle& wf, const RawTensor& w, const FormatOracle& xf,
                    const RawTensor& x) {
  const std::string gemm_text = refusal_of([&] { (void)gemm(wf, w, xf, x, kInt16); });
  EXPECT_EQ(refusal_of([&] { (void)exact_in_f32(wf, w, xf, x); }), gemm_text);
  return gemm_text;
}

TEST(Gemm, RefusesOperandsThatDoNotFit) {
  const Operands operands = random_operands(Shape(2, 256, 2), 71);
  const RawTensor w = operands.weights();
  const RawTensor x = operands.activations();
  const auto& q6 = q6_k_format();
  const auto& q8 = q8_0_format();
  EXPECT_EQ(refused(q6, w, q8, x), "");
  EXPECT_THAT(refused(q8, x, q8, x), HasSubstr("not a weight format"));
  EXPECT_THAT(refused(q6, w, q6, w), HasSubstr("not an activation format"));
  EXPECT_THAT(refused(q6, x, q8, x), HasSubstr("format=q8_0"));
  const RawTensor longer = tensor("q8_0", Shape(2, 512, 2), operands.x);
  EXPECT_THAT(refused(q6, w, q8, longer), HasSubstr("activations.id=512"));
  const RawTensor more = tensor("q6_K", Shape(3, 256, 2), operands.w);
  EXPECT_THAT(refused(q6, more, q8, x), HasSubstr("raw.bytes=420"));
}

TEST(Gemm, RefusesNonFiniteScalesOfEitherOperand) {
  Operands weights = random_operands(Shape(2, 512, 2), 72);
  oracle::store_f16(0x7c00, &weights.w[3 * 210 + 208]);
  EXPECT_THAT(refused(q6_k_format(), weights.weights(), q8_0_format(), weights.activations()),
              HasSubstr("scale[line 1, block 1]"));
  Operands activations = random_operands(Shape(2, 512, 2), 73);
  oracle::store_f16(0x7e00, &activations.x[17 * 34]);
  EXPECT_THAT(
      refused(q6_k_format(), activations.weights(), q8_0_format(), activations.activations()),
      HasSubstr("scale[line 1, block 1]"));
}

TEST(Gemm, TakesTokensFromTheActivationsAndRowsFromTheWeights) {
  const Bytes w = random_weights(Shape(3, 256), 80);
  const Bytes x = random_activations(Shape(1, 256, 2), 81);
  const Reference reference = gemm(q6_k_format(), tensor("q6_K", Shape(3, 256), w), q8_0_format(),
                                   tensor("q8_0", Shape(1, 256, 2), x), kInt16);
  EXPECT_EQ(reference.shape, Shape(3, 256, 2));
  EXPECT_EQ(reference.y.size(), 6u);
}

}  // namespace
}  // namespace planegate
