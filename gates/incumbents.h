#pragma once

#include <span>
#include <string>
#include <vector>

#include <planegate/core/shape.h>

namespace planegate::gates {

/// How another project judges a quantised matmul: for comparison with parity, never as a verdict.
///
/// `accepts` is given Y* and the tested output, both (nt, od); each treats NaN and infinities as
/// its original does, and none accepts a NaN. Reference values are rounded to f32 first, which is
/// what the originals compare with.
/// @pre y_star.size() == y.size(), not empty: else ContractError.
struct Judge {
  std::string name;     ///< `NMSE <= 5e-4`
  std::string project;  ///< `ggml`
  bool (*accepts)(std::span<const double> y_star, std::span<const float> y) = nullptr;
  std::vector<Shape> shapes;  ///< what that project tests, as far as two cores run it
  std::string shapes_source;  ///< where they come from, and what was changed
};

/// The judges of ggml, DeepGEMM, vLLM and PyTorch. ggml's appears twice: at the one extent that
/// its suite gives q6_K, and at a real tensor's.
/// Source: the projects' public tests (test-backend-ops.cpp; tests/test_core.py of DeepGEMM;
/// tests/kernels/quantization/test_marlin_gemm.py; torch.testing.assert_close).
const std::vector<Judge>& incumbents();

}  // namespace planegate::gates
