#include <bit>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/oracle_gemm_fixture.h"

namespace planegate {
namespace {

using oracle::gemm;
using oracle::Reference;
using testing::HasSubstr;

float tree_sum(std::vector<float> terms) {
  while (terms.size() > 1) {
    const size_t half = (terms.size() + 1) / 2;
    for (size_t i = 0; i + half < terms.size(); ++i) terms[i] += terms[i + half];
    terms.resize(half);
  }
  return terms[0];
}

/// Four chains side by side, then the chain of their sums.
float split_sum(const std::vector<float>& terms) {
  float y = 0;
  for (size_t part = 0; part < 4; ++part) {
    const auto first = terms.begin() + static_cast<std::ptrdiff_t>(part * terms.size() / 4);
    y += chain_sum({first, first + static_cast<std::ptrdiff_t>(terms.size() / 4)});
  }
  return y;
}

/// An order of summation: its declaration and its f32 sum.
struct Order {
  const char* name;
  Arithmetic arithmetic;
  float (*sum)(const std::vector<float>& terms);
};

const Order kChain{"chain", kInt16,
                   [](const std::vector<float>& terms) { return chain_sum(terms); }};
const Order kTree{
    "tree",
    {16, 2, "int32 over 16, then f32 tree",
     [](const Shape& s) {
       return static_cast<int64_t>(std::bit_width(static_cast<size_t>(s.id() / 16 - 1)));
     }},
    [](const std::vector<float>& terms) { return tree_sum(terms); }};
const Order kSplit{
    "split",
    {16, 2, "int32 over 16, then 4 f32 chains", [](const Shape& s) { return s.id() / 16 / 4 + 4; }},
    split_sum};

struct WorstError {
  double in_bounds = 0;  ///< |error| / bound, largest
  int64_t beyond = 0;
};

WorstError worst_error(const Operands& operands, const Reference& reference, const Order& order,
                       double planted = 0) {
  WorstError worst;
  for (int64_t t = 0; t < operands.shape.nt(); ++t) {
    for (int64_t j = 0; j < operands.shape.od(); ++j) {
      const auto at = static_cast<size_t>(t * operands.shape.od() + j);
      const double bound = reference.bound[at];
      const double error = order.sum(terms_of(operands, j, t)) + planted * bound - reference.y[at];
      worst.in_bounds = std::max(worst.in_bounds, std::fabs(error) / bound);
      worst.beyond += std::fabs(error) > bound;
    }
  }
  return worst;
}

// id 256 over 16: 16 additions and 2 roundings a term, m = 18.
TEST(Bound, IsGammaOf18TimesTheMagnitude) {
  const Reference reference = random_operands(Shape(5, 256, 3), 20).reference();
  const double gamma = 18 * 0x1p-24 / (1 - 18 * 0x1p-24);
  for (size_t i = 0; i < reference.y.size(); ++i) {
    const double want = (gamma + 16 * 0x1p-53) * reference.magnitude[i];
    EXPECT_NEAR(reference.bound[i] / want, 1, 1e-13);
    EXPECT_GE(reference.bound[i], want);
  }
}

TEST(Bound, IsZeroWithoutTerms) {
  const Shape shape(2, 256, 2);
  Operands operands = random_operands(shape, 21);
  std::fill(operands.w.begin(), operands.w.begin() + 210, std::byte{0});
  const Reference reference = operands.reference();
  EXPECT_EQ(reference.bound[0], 0);
  EXPECT_EQ(reference.bound[2], 0);
  EXPECT_GT(reference.bound[1], 0);
}

TEST(Bound, HoldsForEachDeclaredOrderAndShowsAPlantedError) {
  for (const Order& order : {kChain, kTree, kSplit}) {
    for (uint64_t seed = 30; seed < 50; ++seed) {
      const Operands operands = random_operands(Shape(7, 1024, 5), seed);
      const Reference reference = operands.reference(order.arithmetic);
      const WorstError own = worst_error(operands, reference, order);
      EXPECT_EQ(own.beyond, 0) << order.name << seed;
      EXPECT_GT(own.in_bounds, 0.001) << "the simulation does not round";
      EXPECT_EQ(worst_error(operands, reference, order, 2).beyond, 35) << order.name << seed;
      EXPECT_EQ(worst_error(operands, reference, order, -2).beyond, 35) << order.name << seed;
    }
  }
}

// 64 terms of 2 roundings: 64, 64/4 + 4 and log2(64) additions.
TEST(Bound, GrowsWithTheDeclaredAdditions) {
  const Operands operands = random_operands(Shape(3, 1024, 2), 22);
  const auto first_bound = [&](const Order& order) {
    return operands.reference(order.arithmetic).bound[0];
  };
  EXPECT_NEAR(first_bound(kTree) / first_bound(kChain), 8.0 / 66, 1e-5);
  EXPECT_NEAR(first_bound(kSplit) / first_bound(kChain), 22.0 / 66, 1e-5);
}

/// Every term has the same value: a chain then rounds the same way for long.
Operands equal_terms(const Shape& shape) {
  oracle::q6_k::Block block;
  block.codes.fill(63);
  block.sc.fill(113);
  block.d_bits = 0x3d55;
  Operands operands{shape, {}, {}};
  for (int64_t i = 0; i < shape.nsb(); ++i) {
    operands.w.resize(operands.w.size() + 210);
    oracle::q6_k::encode(block, &operands.w[operands.w.size() - 210]);
  }
  for (int64_t i = 0; i < shape.id() / 32; ++i) {
    operands.x.resize(operands.x.size() + 34, std::byte{101});
    oracle::store_f16(0x3a67, &operands.x[operands.x.size() - 34]);
  }
  return operands;
}

TEST(Bound, OfATreeIsTooTightForAChain) {
  const Operands operands = equal_terms(Shape(1, 1 << 17, 1));
  const Reference tree = operands.reference(kTree.arithmetic);
  EXPECT_EQ(worst_error(operands, tree, kTree).beyond, 0);
  EXPECT_EQ(worst_error(operands, tree, kChain).beyond, 1);
  EXPECT_EQ(worst_error(operands, operands.reference(), kChain).beyond, 0);
}

TEST(Bound, SeesMostSingleCodesAtId512) {
  const Shape shape(1, 512, 1);
  const Operands operands = lattice_operands(shape, 60, {31, 127, false, 0}, {127, 1, false, 0});
  const Reference reference = operands.reference();
  int seen = 0;
  for (size_t k = 0; k < 512; ++k) {
    Operands faulty = operands;
    auto block = oracle::q6_k::decode(faulty.w.data() + k / 256 * 210);
    block.codes[k % 256] = static_cast<uint8_t>(block.codes[k % 256] ^ 1);
    oracle::q6_k::encode(block, faulty.w.data() + k / 256 * 210);
    seen += std::fabs(chain_sum(terms_of(faulty, 0, 0)) - reference.y[0]) > reference.bound[0];
  }
  EXPECT_GT(seen, 400);
}

// Each product is 0.75 * 2^-149 and becomes 2^-149: an error of a third of y*, far beyond gamma.
TEST(Bound, AllowsForProductsBelowTheNormalF32) {
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

TEST(Bound, RefusesArithmeticThatHasNoBound) {
  const Operands operands = random_operands(Shape(1, 256, 1), 70);
  const auto ask = [&](const Arithmetic& arithmetic) {
    return refusal_of([&] { (void)operands.reference(arithmetic); });
  };
  EXPECT_EQ(ask({16, 0, ""}), "");
  EXPECT_THAT(ask({16, -1, ""}), HasSubstr("roundings_per_term=-1: negative"));
  EXPECT_THAT(ask({16, 1 << 24, ""}), HasSubstr("no bound"));
  EXPECT_EQ(ask({16, 2, "", [](const Shape&) { return int64_t{1}; }}), "");
  EXPECT_EQ(ask({16, 2, "", [](const Shape&) { return int64_t{0}; }}), "additions=0: below 1");
  EXPECT_EQ(ask({16, 2, "", [](const Shape&) { return int64_t{-5}; }}), "additions=-5: below 1");
  EXPECT_THAT(ask({16, 2, "", [](const Shape&) { return int64_t{1} << 24; }}),
              HasSubstr("no bound"));
}

TEST(Bound, RefusesTermsThatCrossAScaleOfTheWeights) {
  const Operands operands = random_operands(Shape(1, 512, 1), 71);
  const auto ask = [&](int64_t exact_elems) {
    return refusal_of([&] { (void)operands.reference({exact_elems, 2, ""}); });
  };
  for (const int64_t elems : {1, 2, 4, 8, 16}) EXPECT_EQ(ask(elems), "");
  EXPECT_EQ(ask(32), "exact_elems=32: not a divisor of the 16 elements that share a scale of q6_K");
  for (const int64_t elems : {-16, 0, 3, 48, 256}) {
    EXPECT_THAT(ask(elems), HasSubstr("exact_elems=" + std::to_string(elems))) << elems;
  }
}

/// The refusal for formats whose scales serve so many elements.
std::string refusal_over(int64_t exact_elems, int64_t of_weights, int64_t of_activations,
                         int64_t id) {
  const Shape shape(1, id, 1);
  const FormatOracle w = constant_format("w", Role::kWeights, 1, 1, of_weights);
  const FormatOracle x = constant_format("x", Role::kActivations, 1, 1, of_activations);
  return refusal_of([&] {
    (void)gemm(w, {"w", "w", shape, {}}, x, {"x", "x", shape, {}}, {exact_elems, 2, ""});
  });
}

TEST(Bound, RefusesTermsThatCrossAScaleOfTheActivations) {
  EXPECT_EQ(refusal_over(64, 256, 64, 256), "");
  EXPECT_EQ(refusal_over(256, 256, 256, 256), "");
  EXPECT_EQ(refusal_over(64, 256, 32, 256),
            "exact_elems=64: not a divisor of the 32 elements that share a scale of x");
  EXPECT_EQ(refusal_over(64, 64, 64, 96), "exact_elems=64: not a divisor of id=96");
}

TEST(Bound, RefusesTermsThatCrossAScaleOfQ8) {
  const Shape shape(1, 256, 1);
  const FormatOracle w = constant_format("w", Role::kWeights, 1, 1, 256);
  const Bytes x = random_activations(shape, 72);
  const auto ask = [&](int64_t exact_elems) {
    return refusal_of([&] {
      (void)gemm(w, {"w", "w", shape, {}}, q8_0_format(), tensor("q8_0", shape, x),
                 {exact_elems, 2, ""});
    });
  };
  EXPECT_EQ(ask(32), "");
  EXPECT_EQ(ask(64), "exact_elems=64: not a divisor of the 32 elements that share a scale of q8_0");
}

// 32 terms of 2^122 are 2^127; twice that is more than the largest f32.
TEST(Bound, RefusesSumsThatMayOverflowF32) {
  const Shape shape(2, 32, 3);
  const FormatOracle w = constant_format("w", Role::kWeights, 0x1p60);
  const auto ask = [&](double value) {
    const FormatOracle x = constant_format("x", Role::kActivations, value);
    return refusal_of([&] {
      (void)gemm(w, {"w", "w", shape, {}}, x, {"x", "x", shape, {}}, {1, 1, ""});
    });
  };
  EXPECT_EQ(ask(0x1p62), "");
  EXPECT_EQ(ask(0x1.fffp62), "");
  EXPECT_THAT(ask(0x1.ffffffp62), HasSubstr("magnitude[token 0, row 0]"));
  EXPECT_THAT(ask(-0x1p63), HasSubstr("may overflow"));
}

// d 65504, sc -128, codes -32 and activations -128 * 65504: 2^55 a term, far below 2^128.
TEST(Bound, StaysFiniteForTheLargestTensors) {
  const Shape shape(1, 1 << 17, 1);
  Operands operands = equal_terms(shape);
  oracle::q6_k::Block block{};
  block.sc.fill(-128);
  block.d_bits = 0x7bff;
  for (size_t at = 0; at < operands.w.size(); at += 210) {
    oracle::q6_k::encode(block, &operands.w[at]);
  }
  std::fill(operands.x.begin(), operands.x.end(), std::byte{0x80});
  for (size_t at = 0; at < operands.x.size(); at += 34) oracle::store_f16(0x7bff, &operands.x[at]);
  for (const Order& order : {kChain, kTree, kSplit}) {
    const Reference reference = operands.reference(order.arithmetic);
    EXPECT_LT(std::fabs(reference.y[0]), 0x1p68);
    EXPECT_EQ(worst_error(operands, reference, order).beyond, 0) << order.name;
    EXPECT_EQ(worst_error(operands, reference, order, 2).beyond, 1) << order.name;
  }
}

// 2^-24 * sc * 2^-24: no product comes near the subnormal f32.
TEST(Bound, DoesNotWidenForTheSmallestScales) {
  Operands operands = random_operands(Shape(4, 512, 3), 23);
  for (size_t at = 208; at < operands.w.size(); at += 210) oracle::store_f16(1, &operands.w[at]);
  for (size_t at = 0; at < operands.x.size(); at += 34) oracle::store_f16(1, &operands.x[at]);
  const Reference reference = operands.reference();
  for (size_t i = 0; i < reference.y.size(); ++i) {
    EXPECT_LT(reference.bound[i], 35 * 0x1p-24 * reference.magnitude[i]);
  }
  EXPECT_EQ(worst_error(operands, reference, kChain).beyond, 0);
  EXPECT_EQ(worst_error(operands, reference, kChain, 2).beyond, 12);
}

}  // namespace
}  // namespace planegate
