#pragma once

#include <cstdint>

#include <planegate/core/sealed_bytes.h>
#include <planegate/core/specs.h>

namespace planegate::oracle {

/// Y* and what each element may be off by, both (nt, od) row-major, in f64. Sealed: whatever runs
/// after gemm() cannot write there.
struct Reference {
  Shape shape{1, 1};
  SealedArray<double> y;
  /// Largest |y - y*| that the declared arithmetic can produce; 0 where all terms are 0.
  SealedArray<double> bound;
  /// sum of |terms| of each element, a term being an exact group sum times its scales.
  SealedArray<double> magnitude;
};

/// Y* and the sum of |terms| of each element: what no rounding of a consumer changes. (nt, od)
/// row-major, in f64, sealed.
struct Terms {
  Shape shape{1, 1};
  int64_t exact_elems = 1;  ///< of a term: neighbouring k
  SealedArray<double> y;
  SealedArray<double> magnitude;
};

/// @pre and @throws as gemm().
Terms add_up(const FormatOracle& weight_format, const RawTensor& weights,
             const FormatOracle& activation_format, const RawTensor& activations,
             int64_t exact_elems);

/// Reference::bound for consumers of this arithmetic. `terms` are those of the operands.
/// @pre and @throws as gemm(); arithmetic.exact_elems is that of the terms.
SealedArray<double> bounds_of(const Terms& terms, const FormatOracle& weight_format,
                              const RawTensor& weights, const FormatOracle& activation_format,
                              const RawTensor& activations, const Arithmetic& arithmetic);

/// Y* = dequantised W times dequantised X, from raw tensors and nothing else.
///
/// Terms are sums over `arithmetic.exact_elems` neighbouring k, exact in int32. A term takes r
/// roundings and passes through at most a = additions_at(shape) f32 additions, in whatever order
/// (chain, tree, split): m = a + r, u = 2^-24, and
/// bound = gamma_m * magnitude + the f64 error of y* itself, gamma_m = m*u / (1 - m*u).
/// Runs on all cores; holds W one tile of rows at a time.
/// @pre both tensors have finite scales, equal id, and shape.od / shape.nt lines.
/// @pre exact_elems divides the scale_elems of both formats: a term has one scale of each.
/// @pre a >= 1, r >= 0, m < 2^24; (1 + gamma_m) * magnitude is finite in f32 for every element.
/// @post y, bound and magnitude are sealed (tests/independence_test.cpp).
/// @throws ContractError when a precondition does not hold.
/// Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, ch. 3.
Reference gemm(const FormatOracle& weight_format, const RawTensor& weights,
               const FormatOracle& activation_format, const RawTensor& activations,
               const Arithmetic& arithmetic);

/// Whether every f32 partial sum over a lattice is exact whatever the order: all terms of an
/// element are multiples of one power of two `unit`, and magnitude < 2^24 * unit. Computed from
/// the tensors' values, not assumed from the ranges.
/// @throws ContractError as gemm().
bool exact_in_f32(const FormatOracle& weight_format, const RawTensor& weights,
                  const FormatOracle& activation_format, const RawTensor& activations);

}  // namespace planegate::oracle
