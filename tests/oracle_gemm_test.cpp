#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/gemm.h"
#include "oracle/half.h"
#include "oracle/q6_k/block.h"
#include "tests/oracle_fixture.h"

namespace planegate {
namespace {

using oracle::exact_in_f32;
using oracle::gemm;
using oracle::Reference;
using testing::HasSubstr;

const Arithmetic kInt16{16, 2, "int32 over 16, then f32 sequential"};

/// One GEMM's raw operands.
struct Operands {
  Shape shape;
  Bytes w;
  Bytes x;

  RawTensor weights() const { return tensor("q6_K", shape, w); }
  RawTensor activations() const { return tensor("q8_0", shape, x); }
  Reference reference(const Arithmetic& arithmetic = kInt16) const {
    return gemm(q6_k_format(), weights(), q8_0_format(), activations(), arithmetic);
  }
  bool exact() const {
    return exact_in_f32(q6_k_format(), weights(), q8_0_format(), activations());
  }
};

Operands random_operands(const Shape& shape, uint64_t seed) {
  return {shape, random_weights(shape, seed), random_activations(shape, seed + 1)};
}

Operands lattice_operands(const Shape& shape, uint64_t seed, const LatticeRanges& w,
                          const LatticeRanges& x) {
  return {shape, q6_k_format().lattice(shape, seed, w), q8_0_format().lattice(shape, seed, x)};
}

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
                    std::tuple(Shape(33, 768, 130), 16), std::tuple(Shape(65, 256, 129), 32),
                    std::tuple(Shape(3, 512, 2), 1), std::tuple(Shape(32, 256, 128), 8)),
    shape_name);

// id 256 over 16: 16 additions and 2 roundings a term, m = 18.
TEST(Gemm, BoundsAnElementByGammaOf18TimesItsMagnitude) {
  const Reference reference = random_operands(Shape(5, 256, 3), 20).reference();
  const double gamma = 18 * 0x1p-24 / (1 - 18 * 0x1p-24);
  for (size_t i = 0; i < reference.y.size(); ++i) {
    const double want = (gamma + 16 * 0x1p-53) * reference.magnitude[i];
    EXPECT_NEAR(reference.bound[i] / want, 1, 1e-13);
    EXPECT_GE(reference.bound[i], want);
  }
}

TEST(Gemm, BoundsAnElementWithoutTermsByZero) {
  const Shape shape(2, 256, 2);
  Operands operands = random_operands(shape, 21);
  std::fill(operands.w.begin(), operands.w.begin() + 210, std::byte{0});
  const Reference reference = operands.reference();
  EXPECT_EQ(reference.bound[0], 0);
  EXPECT_EQ(reference.bound[2], 0);
  EXPECT_GT(reference.bound[1], 0);
}

/// Exact integer sum of 16 neighbours and its scales, from the encoded bytes.
struct Group {
  int dot;
  float weight_scale;  // d * sc, exact
  float activation_scale;
};

Group group_of(const Operands& operands, int64_t row, int64_t token, int64_t g) {
  const int64_t nsb = operands.shape.nsb();
  const auto block = oracle::q6_k::decode(operands.w.data() + (row * nsb + g / 16) * 210);
  const int64_t chunk = (token * operands.shape.id() / 32 + g / 2) * 34;
  Group group{0, oracle::f16_to_f32(block.d_bits) * block.sc[static_cast<size_t>(g % 16)],
              oracle::f16_to_f32(u16_at(operands.x, chunk))};
  for (int64_t e = 0; e < 16; ++e) {
    group.dot += (block.codes[static_cast<size_t>(g % 16 * 16 + e)] - 32) *
                 int8_at(operands.x, chunk + 2 + g % 2 * 16 + e);
  }
  return group;
}

/// The declared arithmetic in f32; groups are visited g = 0, step, 2*step, ... modulo their number.
float simulated(const Operands& operands, int64_t row, int64_t token, int64_t step = 1) {
  const int64_t groups = operands.shape.id() / 16;
  float y = 0;
  for (int64_t i = 0; i < groups; ++i) {
    const Group group = group_of(operands, row, token, i * step % groups);
    y += static_cast<float>(group.dot) * group.weight_scale * group.activation_scale;
  }
  return y;
}

struct WorstError {
  double in_bounds = 0;  ///< |error| / bound, largest
  int64_t beyond = 0;
};

WorstError worst_error(const Operands& operands, const Reference& reference, double planted) {
  WorstError worst;
  for (int64_t t = 0; t < operands.shape.nt(); ++t) {
    for (int64_t j = 0; j < operands.shape.od(); ++j) {
      const auto at = static_cast<size_t>(t * operands.shape.od() + j);
      const double bound = reference.bound[at];
      const double error = simulated(operands, j, t) + planted * bound - reference.y[at];
      worst.in_bounds = std::max(worst.in_bounds, std::fabs(error) / bound);
      worst.beyond += std::fabs(error) > bound;
    }
  }
  return worst;
}

TEST(Gemm, BoundHoldsForTheDeclaredArithmeticAndShowsAPlantedError) {
  for (uint64_t seed = 30; seed < 50; ++seed) {
    const Operands operands = random_operands(Shape(7, 1024, 5), seed);
    const Reference reference = operands.reference();
    const WorstError own = worst_error(operands, reference, 0);
    EXPECT_EQ(own.beyond, 0) << seed;
    EXPECT_GT(own.in_bounds, 0.001) << "the simulation does not round";
    EXPECT_EQ(worst_error(operands, reference, 2).beyond, 35) << seed;
    EXPECT_EQ(worst_error(operands, reference, -2).beyond, 35) << seed;
  }
}

TEST(Gemm, BoundSeesMostSingleCodesAtId512) {
  const Shape shape(1, 512, 1);
  const Operands operands = lattice_operands(shape, 60, {31, 127, false, 0}, {127, 1, false, 0});
  const Reference reference = operands.reference();
  int seen = 0;
  for (size_t k = 0; k < 512; ++k) {
    Operands faulty = operands;
    auto block = oracle::q6_k::decode(faulty.w.data() + k / 256 * 210);
    block.codes[k % 256] = static_cast<uint8_t>(block.codes[k % 256] ^ 1);
    oracle::q6_k::encode(block, faulty.w.data() + k / 256 * 210);
    seen += std::fabs(simulated(faulty, 0, 0) - reference.y[0]) > reference.bound[0];
  }
  EXPECT_GT(seen, 400);
}

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
      for (const int64_t step : {1, 31, 5, 13}) {
        ASSERT_EQ(simulated(operands, at % 3, at / 3, step), reference.y[static_cast<size_t>(at)]);
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

/// A format whose lines are `first` and then `value`s: for what q6_K and q8_0 cannot hold.
FormatOracle constant_format(const char* name, Role role, double value, double first) {
  return {name,
          role,
          [](const Shape&) { return int64_t{0}; },
          [value, first](const RawTensor&, int64_t, std::span<double> values) {
            std::fill(values.begin(), values.end(), value);
            values[0] = first;
          },
          {},
          [](const RawTensor&) { return std::optional<NonFiniteScale>(); },
          {},
          {}};
}

FormatOracle constant_format(const char* name, Role role, double value) {
  return constant_format(name, role, value, value);
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

// Each product is 0.75 * 2^-149 and becomes 2^-149: an error of a third of y*, far beyond gamma.
TEST(Gemm, AllowsForProductsBelowTheNormalF32) {
  const Shape shape(1, 32, 1);
  const FormatOracle w = constant_format("w", Role::kWeights, 0x1.8p-75);
  const FormatOracle x = constant_format("x", Role::kActivations, 0x1p-75);
  const Reference reference = gemm(w, {"w", "w", shape, {}}, x, {"x", "x", shape, {}}, {1, 1, ""});
  float y = 0;
  for (int k = 0; k < 32; ++k) y += 0x1.8p-75f * 0x1p-75f;
  EXPECT_EQ(y, 32 * 0x1p-149f);
  EXPECT_LE(std::fabs(y - reference.y[0]), reference.bound[0]);
  EXPECT_LT(reference.bound[0], 2 * 32 * 0x1p-149);
}

TEST(Gemm, ThrowsToItsCallerWhatADequantiserThrows) {
  const Shape shape(100, 32, 2);
  FormatOracle w = constant_format("w", Role::kWeights, 1);
  w.dequantise = [](const RawTensor&, int64_t line, std::span<double>) {
    require(line < 50, "line", line, "broken");
  };
  const FormatOracle x = constant_format("x", Role::kActivations, 1);
  EXPECT_EQ(refusal_of([&] {
              (void)gemm(w, {"w", "w", shape, {}}, x, {"x", "x", shape, {}}, {1, 1, ""});
            }),
            "line=50: broken");
}

TEST(Gemm, RefusesArithmeticThatHasNoBound) {
  const Operands operands = random_operands(Shape(1, 256, 1), 70);
  const auto ask = [&](int64_t exact_elems, int64_t roundings) {
    return refusal_of([&] { (void)operands.reference({exact_elems, roundings, ""}); });
  };
  EXPECT_EQ(ask(256, 0), "");
  EXPECT_THAT(ask(0, 1), HasSubstr("exact_elems=0"));
  EXPECT_THAT(ask(48, 1), HasSubstr("exact_elems=48"));
  EXPECT_THAT(ask(16, -1), HasSubstr("roundings_per_term=-1"));
  EXPECT_THAT(ask(16, 1 << 24), HasSubstr("no bound"));
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
