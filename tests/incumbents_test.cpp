#include "gates/incumbents.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

#include "gates/consumer_run.h"
#include "tests/gate_tests.h"

namespace planegate::gates {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::nanf("");

const Judge& judge(const std::string& project) {
  for (const Judge& one : incumbents()) {
    if (one.project == project) return one;
  }
  throw std::runtime_error(project);
}

std::vector<float> rounded(const std::vector<double>& y_star) {
  return {y_star.begin(), y_star.end()};
}

/// Values like a matmul's: of both signs, none 0.
std::vector<double> outputs(size_t size, uint64_t seed = 1) {
  std::vector<double> y_star(size);
  for (size_t i = 0; i < size; ++i) {
    const auto drawn = static_cast<double>(static_cast<int64_t>(payload(seed, i)) >> 40);
    y_star[i] = static_cast<float>((drawn + 0.5) * 0x1p-20);
  }
  return y_star;
}

class EveryJudge : public testing::TestWithParam<size_t> {
 protected:
  const Judge& judge_ = incumbents()[GetParam()];
};

TEST_P(EveryJudge, AcceptsTheReference) {
  const auto y_star = outputs(1000);
  EXPECT_TRUE(judge_.accepts(y_star, rounded(y_star)));
}

TEST_P(EveryJudge, RejectsGarbage) {
  const auto y_star = outputs(1000);
  const std::vector<float> zeros(1000);
  const std::vector<float> other = rounded(outputs(1000, 2));
  std::vector<float> negated = rounded(y_star);
  for (float& y : negated) y = -y;
  EXPECT_FALSE(judge_.accepts(y_star, zeros));
  EXPECT_FALSE(judge_.accepts(y_star, other));
  EXPECT_FALSE(judge_.accepts(y_star, negated));
}

TEST_P(EveryJudge, RejectsOneNaNOrInfinity) {
  const auto y_star = outputs(1000);
  for (const float value : {kNaN, kInfinity, -kInfinity}) {
    std::vector<float> y = rounded(y_star);
    y[500] = value;
    EXPECT_FALSE(judge_.accepts(y_star, y)) << value;
  }
}

TEST_P(EveryJudge, RefusesOutputsOfAnotherSize) {
  const auto y_star = outputs(10);
  const std::vector<float> y(9);
  EXPECT_THROW((void)judge_.accepts(y_star, y), ContractError);
  EXPECT_THROW((void)judge_.accepts({}, {}), ContractError);
}

TEST_P(EveryJudge, HasShapesThatQ6KTakesAndSaysWhereFrom) {
  EXPECT_FALSE(judge_.shapes.empty());
  EXPECT_NE(judge_.shapes_source, "");
  for (const Shape& shape : judge_.shapes) EXPECT_EQ(shape.id() % 256, 0) << shape.text();
}

INSTANTIATE_TEST_SUITE_P(All, EveryJudge, testing::Range<size_t>(0, incumbents().size()),
                         [](const auto& test) { return "N" + std::to_string(test.param); });

/// Quantile `p` of the normal distribution.
double quantile(double p) {
  double low = -8;
  double high = 8;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < p ? low : high) = middle;
  }
  return low;
}

/// The mean of each of `steps` equally likely slices of the normal distribution.
std::vector<double> slices(size_t steps) {
  const auto density = [](double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  };
  const auto count = static_cast<double>(steps);
  std::vector<double> means(steps);
  for (size_t i = 0; i < steps; ++i) {
    const double below = i == 0 ? 0 : density(quantile(static_cast<double>(i) / count));
    const double above = i + 1 == steps ? 0 : density(quantile(static_cast<double>(i + 1) / count));
    means[i] = static_cast<float>(count * (below - above));
  }
  return means;
}

/// 4096 rows of which the first `wrong` hold other, independent numbers of the same normal
/// distribution: over 48 x 48 tokens right and wrong run through all pairs of 48 slices, so that
/// they are independent exactly, and no verdict hangs on a draw.
bool accepts_wrong_rows(const Judge& judge, size_t wrong) {
  constexpr size_t kRows = 4096, kSteps = 48;
  const std::vector<double> values = slices(kSteps);
  std::vector<double> y_star;
  std::vector<float> y;
  for (size_t token = 0; token < kSteps * kSteps; ++token) {
    for (size_t row = 0; row < kRows; ++row) {
      y_star.push_back(values[token / kSteps]);
      y.push_back(static_cast<float>(values[row < wrong ? token % kSteps : token / kSteps]));
    }
  }
  return judge.accepts(y_star, y);
}

TEST(WrongRowsOf4096, OnePassesNmse) {
  EXPECT_TRUE(accepts_wrong_rows(judge("ggml"), 1));
  EXPECT_FALSE(accepts_wrong_rows(judge("ggml"), 2));
}

TEST(WrongRowsOf4096, FourPassDeepGemm) {
  EXPECT_TRUE(accepts_wrong_rows(judge("DeepGEMM"), 4));
  EXPECT_FALSE(accepts_wrong_rows(judge("DeepGEMM"), 5));
}

TEST(WrongRowsOf4096, A115PassMarlin) {
  EXPECT_TRUE(accepts_wrong_rows(judge("vLLM Marlin"), 115));
  EXPECT_FALSE(accepts_wrong_rows(judge("vLLM Marlin"), 116));
}

TEST(WrongRowsOf4096, NonePassesPyTorch) {
  for (const char* project : {"PyTorch f16", "PyTorch bf16"}) {
    EXPECT_TRUE(accepts_wrong_rows(judge(project), 0)) << project;
    EXPECT_FALSE(accepts_wrong_rows(judge(project), 1)) << project;
  }
}

TEST(PyTorchJudge, TurnsAtItsTolerances) {
  const auto accepts = [](const char* project, double y_star, float y) {
    const std::vector<double> reference = {y_star};
    const std::vector<float> tested = {y};
    return judge(project).accepts(reference, tested);
  };
  EXPECT_TRUE(accepts("PyTorch f16", 1, 1.001f));
  EXPECT_FALSE(accepts("PyTorch f16", 1, 1.00102f));
  EXPECT_TRUE(accepts("PyTorch f16", 0, 0.99e-5f));
  EXPECT_FALSE(accepts("PyTorch f16", 0, 1.01e-5f));
  EXPECT_TRUE(accepts("PyTorch bf16", 1, 1.016f));
  EXPECT_FALSE(accepts("PyTorch bf16", 1, 1.0161f));
  EXPECT_TRUE(accepts("PyTorch f16", kInfinity, kInfinity));
  EXPECT_FALSE(accepts("PyTorch f16", kInfinity, 1));
}

TEST(GgmlJudge, LetsAnUndefinedQuotientPassAsItsOriginalDoes) {
  const Judge& ggml = judge("ggml");
  EXPECT_TRUE(ggml.accepts(std::vector<double>(4), std::vector<float>(4)));
  EXPECT_TRUE(ggml.accepts(std::vector<double>{1, kInfinity}, std::vector<float>{9, kInfinity}));
  EXPECT_FALSE(ggml.accepts(std::vector<double>{1, kInfinity}, std::vector<float>{1, -kInfinity}));
}

TEST_P(EveryJudge, AcceptsARightConsumer) {
  const Shape& shape = judge_.shapes.front();
  const auto device = make_host_device();
  Context context{shipped_catalog(), *device, 1};
  const SampleTensor tensor(shipped_catalog(), "q6_K", shape);
  const FormatOracle& q8_0 = *shipped_catalog().format("q8_0");
  const auto x = sample_activations(shape, 1);
  Dataset file(context, "file", tensor.raw, q8_0,
               q8_0.quantise({"x", "f32", shape, std::as_bytes(std::span(x))}));
  const ConsumerSpec& consumer = *shipped_catalog().consumer("raw/expand");
  file.ensure_planes(consumer);
  const ConsumerRun ran = run(context, consumer, file);
  const auto& y_star = file.reference(consumer.arithmetic).y;
  EXPECT_TRUE(judge_.accepts({y_star.begin(), y_star.end()}, ran.y)) << judge_.project;
}

}  // namespace
}  // namespace planegate::gates
