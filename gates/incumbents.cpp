#include "gates/incumbents.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <planegate/core/errors.h>

namespace planegate::gates {
namespace {

void require_same_size(std::span<const double> y_star, std::span<const float> y) {
  require(!y.empty() && y.size() == y_star.size(), "y.size()", std::ssize(y),
          fmt::format("{} elements as in y*, at least 1", y_star.size()));
}

/// Calls body(reference, tested) for every element until it returns false; whether none did.
template <class Body>
bool for_elements(std::span<const double> y_star, std::span<const float> y, const Body& body) {
  require_same_size(y_star, y);
  for (size_t i = 0; i < y.size(); ++i) {
    if (!body(static_cast<float>(y_star[i]), y[i])) return false;
  }
  return true;
}

/// ggml counts the largest f32 as an infinity.
bool infinite_or_largest(float value) {
  return std::isinf(value) || std::fabs(value) == std::numeric_limits<float>::max();
}

/// Both infinite with one sign, or both finite.
bool same_infinity(float a, float b) {
  if (infinite_or_largest(a) != infinite_or_largest(b)) return false;
  return !infinite_or_largest(a) || std::signbit(a) == std::signbit(b);
}

/// mse(tested, reference) / mse(tested, 0): the original divides by the tested output, and lets an
/// undefined quotient pass.
bool nmse(std::span<const double> y_star, std::span<const float> y) {
  double error = 0;
  double power = 0;
  const bool comparable = for_elements(y_star, y, [&](float reference, float tested) {
    const float difference = tested - reference;
    error += static_cast<double>(difference * difference);
    power += static_cast<double>(tested * tested);
    return !std::isnan(reference) && !std::isnan(tested) && same_infinity(reference, tested);
  });
  return comparable && !(error / power > 5e-4);
}

/// 1 - 2<x,y> / (x^2 + y^2)
bool similarity(std::span<const double> y_star, std::span<const float> y) {
  double dot = 0;
  double power = 0;
  for_elements(y_star, y, [&](float reference, float tested) {
    const double r = reference;
    const double t = tested;
    dot += r * t;
    power += r * r + t * t;
    return true;
  });
  return 1 - 2 * dot / power <= 1e-3;
}

bool mean_difference(std::span<const double> y_star, std::span<const float> y) {
  double difference = 0;
  double magnitude = 0;
  for_elements(y_star, y, [&](float reference, float tested) {
    difference += static_cast<double>(std::fabs(tested - reference));
    magnitude += static_cast<double>(std::fabs(reference));
    return true;
  });
  return difference / magnitude < 0.04;
}

/// |tested - reference| <= atol + rtol * |reference|; infinities only where both are equal.
bool close(std::span<const double> y_star, std::span<const float> y, double rtol) {
  constexpr double kAtol = 1e-5;
  return for_elements(y_star, y, [&](double reference, double tested) {
    const double difference = std::fabs(tested - reference);
    return tested == reference ||
           (std::isfinite(difference) && difference <= kAtol + rtol * std::fabs(reference));
  });
}

bool close_f16(std::span<const double> y_star, std::span<const float> y) {
  return close(y_star, y, 1e-3);
}

bool close_bf16(std::span<const double> y_star, std::span<const float> y) {
  return close(y_star, y, 1.6e-2);
}

std::vector<Shape> ggml_shapes() {
  std::vector<Shape> shapes;
  for (const int64_t nt : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16}) shapes.emplace_back(16, 256, nt);
  return shapes;
}

std::vector<Judge> made() {
  const std::vector<Shape> torch = {
      {512, 512, 128}, {1024, 512, 128}, {512, 1024, 128}, {1024, 1024, 128}};
  const std::string torch_source =
      "the extents of PyTorch's int4 matmul test on xpu (m 128, k and n 512 or 1024): the k of its "
      "int8 test, 32 and 64, is below a super-block";
  return {
      {"NMSE <= 5e-4", "ggml", nmse, ggml_shapes(),
       "test-backend-ops, MUL_MAT: m 16, k 256, n 1 to 9 and 16"},
      {"NMSE <= 5e-4",
       "ggml's judge at real shapes",
       nmse,
       {{512, 3584, 1}, {512, 3584, 8}, {512, 3584, 16}},
       "chosen here: attn_v of Qwen2.5-7B"},
      {"1 - 2<x,y>/(x^2+y^2) <= 1e-3",
       "DeepGEMM",
       similarity,
       {{2112, 7168, 64}, {7168, 2048, 64}},
       "tests/test_core.py, test_gemm: the smallest two of its extents whose k is a multiple of "
       "256, at its smallest m"},
      {"mean |y-y*| / mean |y*| < 0.04",
       "vLLM Marlin",
       mean_difference,
       {{256, 1024, 1}, {1024, 1024, 1}, {2368, 1792, 26}, {832, 1536, 257}},
       "tests/kernels/quantization/test_marlin_gemm.py: k chunk 128, n chunks 64 and 256 (64 alone "
       "for the larger two), factors (1,4,8), (26,37,13), (257,13,11); k 1664 and 1408 rounded up "
       "to multiples of 256"},
      {"|y-y*| <= 1e-5 + 1e-3|y*|", "PyTorch f16", close_f16, torch, torch_source},
      {"|y-y*| <= 1e-5 + 1.6e-2|y*|", "PyTorch bf16", close_bf16, torch, torch_source},
  };
}

}  // namespace

const std::vector<Judge>& incumbents() {
  static const std::vector<Judge> judges = made();
  return judges;
}

}  // namespace planegate::gates
