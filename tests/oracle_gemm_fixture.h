#pragma once

#include <algorithm>
#include <vector>

#include "oracle/gemm.h"
#include "oracle/half.h"
#include "oracle/q6_k/block.h"
#include "tests/oracle_fixture.h"

/// What the tests of the reference GEMM share.
namespace planegate {

inline const Arithmetic kInt16{16, 2, "int32 over 16, then f32 sequential"};

/// One GEMM's raw operands.
struct Operands {
  Shape shape;
  Bytes w;
  Bytes x;

  RawTensor weights() const { return tensor("q6_K", shape, w); }
  RawTensor activations() const { return tensor("q8_0", shape, x); }
  oracle::Reference reference(const Arithmetic& arithmetic = kInt16) const {
    return oracle::gemm(q6_k_format(), weights(), q8_0_format(), activations(), arithmetic);
  }
  bool exact() const {
    return oracle::exact_in_f32(q6_k_format(), weights(), q8_0_format(), activations());
  }
};

inline Operands random_operands(const Shape& shape, uint64_t seed) {
  return {shape, random_weights(shape, seed), random_activations(shape, seed + 1)};
}

inline Operands lattice_operands(const Shape& shape, uint64_t seed, const LatticeRanges& w,
                                 const LatticeRanges& x) {
  return {shape, lattice_of(q6_k_format(), shape, seed, w),
          lattice_of(q8_0_format(), shape, seed, x)};
}

/// Exact integer sum of 16 neighbours and its scales, from the encoded bytes.
struct Group {
  int dot;
  float weight_scale;  // d * sc, exact
  float activation_scale;
};

inline Group group_of(const Operands& operands, int64_t row, int64_t token, int64_t g) {
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

/// The terms of one element as f32 arithmetic makes them, over groups of 16.
inline std::vector<float> terms_of(const Operands& operands, int64_t row, int64_t token) {
  std::vector<float> terms;
  for (int64_t g = 0; g < operands.shape.id() / 16; ++g) {
    const Group group = group_of(operands, row, token, g);
    terms.push_back(static_cast<float>(group.dot) * group.weight_scale * group.activation_scale);
  }
  return terms;
}

/// The chain of all terms, visited g = 0, step, 2*step, ... modulo their number.
inline float chain_sum(const std::vector<float>& terms, size_t step = 1) {
  float y = 0;
  for (size_t i = 0; i < terms.size(); ++i) y += terms[i * step % terms.size()];
  return y;
}

/// A format whose lines are `first` and then `value`s: for what q6_K and q8_0 cannot hold.
inline FormatOracle constant_format(const char* name, Role role, double value, double first,
                                    int64_t scale_elems = 1) {
  return {name,
          role,
          [](const Shape&) { return int64_t{0}; },
          [value, first](const RawTensor&, int64_t, int64_t k, std::span<double> values) {
            std::fill(values.begin(), values.end(), value);
            if (k == 0) values[0] = first;
          },
          {},
          [](const RawTensor&) { return std::optional<NonFiniteScale>(); },
          {},
          {},
          scale_elems};
}

inline FormatOracle constant_format(const char* name, Role role, double value) {
  return constant_format(name, role, value, value);
}

}  // namespace planegate
