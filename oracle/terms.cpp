#include "oracle/terms.h"

namespace planegate::oracle {
namespace {

using Rows = double __attribute__((vector_size(kBlockRows * sizeof(double))));
using RowBits = int64_t __attribute__((vector_size(kBlockRows * sizeof(double))));

}  // namespace

__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) void add_terms(
    const TermsBlock& block) {
  const auto* const w = reinterpret_cast<const Rows*>(block.w);
  for (int64_t token = 0; token < block.tokens; token += kBlockTokens) {
    auto* const y = reinterpret_cast<Rows*>(block.y) + token;
    auto* const magnitude = reinterpret_cast<Rows*>(block.magnitude) + token;
    for (int64_t first = 0; first < block.k; first += block.group) {
      Rows term[kBlockTokens] = {};
      for (int64_t k = first; k < first + block.group; ++k) {
        const Rows weights = w[k];
        const double* const x = block.x + k * block.tokens + token;
#pragma GCC unroll 8
        for (int t = 0; t < kBlockTokens; ++t) term[t] += weights * x[t];
      }
#pragma GCC unroll 8
      for (int t = 0; t < kBlockTokens; ++t) {
        y[t] += term[t];
        magnitude[t] += reinterpret_cast<Rows>(reinterpret_cast<RowBits>(term[t]) & INT64_MAX);
      }
    }
  }
}

}  // namespace planegate::oracle
