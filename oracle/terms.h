#pragma once

#include <cstdint>

namespace planegate::oracle {

/// Rows of a block, side by side in memory, and tokens that are summed at once.
inline constexpr int64_t kBlockRows = 8;
inline constexpr int64_t kBlockTokens = 8;

/// Eight values as one vector reads them. What TermsBlock points to is made of these.
struct alignas(kBlockRows * sizeof(double)) Octet {
  double of[kBlockRows] = {};
};

/// A block of 8 rows times `tokens` tokens over a range of k. Products of neighbouring k are summed
/// into a term; y gains the terms, magnitude their absolute values. All in f64.
struct TermsBlock {
  const double* w;    ///< (k, 8 rows)
  const double* x;    ///< (k, tokens)
  int64_t k;          ///< elements, a multiple of `group`
  int64_t group;      ///< elements of a term
  int64_t tokens;     ///< a multiple of kBlockTokens
  double* y;          ///< (tokens, 8 rows)
  double* magnitude;  ///< (tokens, 8 rows)
};

/// Adds the block's terms. The widest vectors that the machine has are used; a product of a weight
/// and an activation has fewer than 53 significant bits, so that fused and separate additions give
/// the same sums on all of them.
/// @pre w, x, y and magnitude are aligned like Octet.
void add_terms(const TermsBlock& block);

}  // namespace planegate::oracle
