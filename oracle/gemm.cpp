#include "oracle/gemm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <planegate/core/errors.h>

#include "oracle/parallel.h"
#include "oracle/preconditions.h"
#include "oracle/terms.h"

namespace planegate::oracle {
namespace {

constexpr int64_t kTileRows = 32;
constexpr int64_t kTileTokens = 128;
/// Elements whose operands stay in a core's cache; a multiple of every group.
constexpr int64_t kTileElems = 256;
constexpr double kUnitF32 = 0x1p-24;
constexpr double kUnitF64 = 0x1p-53;

using Matrix = Eigen::MatrixXd;
using Rows8 = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;  // (rows, tokens) of sums
using Dots = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;  // (rows, tokens) of a (nt, od) array

void require_operand(const FormatOracle& format, Role role, const RawTensor& tensor) {
  require(format.role == role, "role", static_cast<long long>(format.role),
          role == Role::kWeights ? "not a weight format" : "not an activation format");
  require_tensor(tensor, format.format, format.size_bytes(tensor.shape));
  const auto fault = format.first_non_finite(tensor);
  if (fault) {
    throw ContractError("scale[line " + std::to_string(fault->line) + ", block " +
                            std::to_string(fault->block) + "]",
                        "f16 bits " + std::to_string(fault->f16_bits), "not finite");
  }
}

void require_operands(const FormatOracle& weight_format, const RawTensor& weights,
                      const FormatOracle& activation_format, const RawTensor& activations) {
  require(weights.shape.id() == activations.shape.id(), "activations.id", activations.shape.id(),
          "not the weights' id=" + std::to_string(weights.shape.id()));
  require_operand(weight_format, Role::kWeights, weights);
  require_operand(activation_format, Role::kActivations, activations);
}

/// Lines [first, first + lines) of a tensor, element-major: (id, width), zeros beyond `lines`.
/// @pre width is a multiple of 8
class Panel {
 public:
  Panel(const FormatOracle& format, const RawTensor& tensor, int64_t first, int64_t lines,
        int64_t width)
      : width_(width), octets_(static_cast<size_t>(width * tensor.shape.id() / kBlockRows)) {
    std::array<double, kTileElems> values;
    const int64_t id = tensor.shape.id();
    // Elements of all lines, a few at a time: what is written to in turn stays in the cache.
    for (int64_t k = 0; k < id; k += kTileElems) {
      const auto some = std::span(values).first(static_cast<size_t>(std::min(kTileElems, id - k)));
      for (int64_t i = 0; i < lines; ++i) {
        format.dequantise(tensor, first + i, k, some);
        double* to = octets_.front().of + k * width_ + i;
        for (const double value : some) {
          *to = value;
          to += width_;
        }
      }
    }
  }

  /// Of the elements from `k` on.
  const double* from(int64_t k) const { return octets_.front().of + k * width_; }
  void make_magnitudes() {
    for (Octet& octet : octets_) {
      for (double& value : octet.of) value = std::fabs(value);
    }
  }

 private:
  int64_t width_;
  std::vector<Octet> octets_;
};

struct Tile {
  int64_t row, rows, token, tokens;
};

/// A term is exact before its scales only if all its elements share them.
void require_exact_terms(const FormatOracle& format, int64_t elems, int64_t id) {
  require(elems >= 1 && format.scale_elems % elems == 0, "exact_elems", elems,
          "not a divisor of the " + std::to_string(format.scale_elems) +
              " elements that share a scale of " + format.format);
  require(id % elems == 0, "exact_elems", elems, "not a divisor of id=" + std::to_string(id));
}

/// Sums of the terms of a tile, and of their absolute values: (tokens, 8 rows).
struct Sums {
  explicit Sums(int64_t tokens)
      : y(static_cast<size_t>(tokens)), magnitude(static_cast<size_t>(tokens)) {}

  Rows8 y_of(const Tile& tile) const { return rows8(y, tile); }
  Rows8 magnitude_of(const Tile& tile) const { return rows8(magnitude, tile); }

  std::vector<Octet> y, magnitude;

 private:
  static Rows8 rows8(const std::vector<Octet>& sums, const Tile& tile) {
    return Rows8(sums.front().of, tile.rows, tile.tokens, Eigen::OuterStride<>(kBlockRows));
  }
};

int64_t whole_blocks(int64_t tokens) {
  return (tokens + kBlockTokens - 1) / kBlockTokens * kBlockTokens;
}

enum class Operands : uint8_t { kValues, kMagnitudes };

/// Calls body(tile, sums) for each tile of Y, once the terms of `group` elements, of the operands'
/// values or of their magnitudes, were added. One panel of tokens is alive at a time, and one of
/// rows a thread.
template <class Body>
void for_tiles(const FormatOracle& weight_format, const RawTensor& weights,
               const FormatOracle& activation_format, const RawTensor& activations, int64_t group,
               Operands operands, const Body& body) {
  const int64_t id = weights.shape.id();
  const int64_t nt = activations.shape.nt();
  for (int64_t token = 0; token < nt; token += kTileTokens) {
    const int64_t tokens = std::min(kTileTokens, nt - token);
    Panel x(activation_format, activations, token, tokens, whole_blocks(tokens));
    if (operands == Operands::kMagnitudes) x.make_magnitudes();
    for_ranges(weights.shape.od(), kBlockRows, [&](int64_t row, int64_t end) {
      Panel w(weight_format, weights, row, end - row, kBlockRows);
      if (operands == Operands::kMagnitudes) w.make_magnitudes();
      Sums sums(whole_blocks(tokens));
      for (int64_t k = 0; k < id; k += kTileElems) {
        add_terms({w.from(k), x.from(k), std::min(kTileElems, id - k), group, whole_blocks(tokens),
                   sums.y.front().of, sums.magnitude.front().of});
      }
      body(Tile{row, end - row, token, tokens}, sums);
    });
  }
}

Dots dots_of(std::span<double> all, const Tile& tile, int64_t od) {
  return Dots(all.data() + tile.token * od + tile.row, tile.rows, tile.tokens,
              Eigen::OuterStride<>(od));
}

/// Error of one element in units of its magnitude, a part that does not scale with it, and one in
/// units of the largest activation of its token times the sum of its row's weights.
struct ErrorBound {
  double relative;
  double absolute;
  double floor;
};

/// relative: gamma_m for the f32 path; n f64 additions of y*; and, as one more factor, the
/// rounding of magnitude (n additions) and of the bound's own formula. m counts the declared f32
/// additions, n those of y* here: a tree of n terms has fewer of the former only.
///
/// absolute: each of n*r products below 2^-126 may be off by 2^-150 as well (an f32 *sum* never
/// underflows inexactly). Later factors of a product magnify that only where it is built from
/// numbers whose own products are subnormal; scales of f16 cannot be: a nonzero product of two is
/// at least 2^-48, and integers only make it larger. Doubled for the roundings that follow.
///
/// Operands that are rounded first move each term by operand_relative, and an activation by
/// activation_floor of its token's largest; the sums' own roundings apply to the moved terms.
ErrorBound error_bound(const Arithmetic& arithmetic, const Shape& shape) {
  const int64_t additions = arithmetic.additions_at(shape);
  require(additions >= 1, "additions", additions, "below 1");
  require(arithmetic.roundings_per_term >= 0, "roundings_per_term", arithmetic.roundings_per_term,
          "negative");
  const double terms = static_cast<double>(shape.id() / arithmetic.exact_elems);
  const double per_term = static_cast<double>(arithmetic.roundings_per_term);
  const double error = (static_cast<double>(additions) + per_term) * kUnitF32;
  require(error < 1, "additions", additions, "so many f32 roundings (2^24) have no bound");
  const double gamma = error / (1 - error);
  const double rounding = 1 + 2 * (terms + 8) * kUnitF64;
  const double moved = arithmetic.operand_relative;
  require(moved >= 0 && moved < 1 && arithmetic.activation_floor >= 0, "operand_relative",
          static_cast<long long>(moved), "0 or above, below 1");
  return {(gamma + terms * kUnitF64 + moved * (1 + gamma)) * rounding, terms * per_term * 0x1p-149,
          arithmetic.activation_floor * (1 + gamma) * rounding};
}

/// gamma_m bounds nothing once a partial sum can overflow: |partial sum| <= (1 + gamma_m) *
/// magnitude. Tensors of q6_K and q8_0 stay below 2^55 a term.
void require_finite_sums(const Eigen::Map<const Eigen::ArrayXd>& magnitude, const ErrorBound& error,
                         int64_t token) {
  constexpr double kOverflowF32 = 0x1.ffffffp127;
  Eigen::Index row = 0;
  const double largest = magnitude.maxCoeff(&row);
  if (largest * (1 + error.relative) < kOverflowF32) return;
  throw ContractError(
      "magnitude[token " + std::to_string(token) + ", row " + std::to_string(row) + "]",
      std::to_string(largest), "an f32 sum may overflow, and has no bound");
}

/// Exponent of the lowest set bit of any value; nullopt where all are zero.
std::optional<int> lowest_bit(std::span<const double> values) {
  std::optional<int> lowest;
  for (const double value : values) {
    if (value == 0) continue;
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const int field = static_cast<int>(bits >> 52 & 2047);
    const uint64_t hidden = uint64_t{field != 0 ? 1u : 0u} << 52;
    const uint64_t significand = (bits & ((uint64_t{1} << 52) - 1)) | hidden;
    const int bit = std::max(field, 1) - 1075 + std::countr_zero(significand);
    lowest = std::min(lowest.value_or(bit), bit);
  }
  return lowest;
}

/// False also where a value has too many units to tell by rounding.
bool are_multiples(std::span<const double> values, int unit_exponent) {
  constexpr int kLeastExponent = -1000;  // its reciprocal is a number
  constexpr double kRoundsToWhole = 0x1.8p52;
  if (unit_exponent < kLeastExponent) return false;
  const double reciprocal = std::ldexp(1.0, -unit_exponent);
  bool all = true;
  for (const double value : values) {
    const double units = value * reciprocal;
    all &= (units + kRoundsToWhole) - kRoundsToWhole == units;
  }
  return all;
}

/// lowest_bit(), most of it without looking at single bits.
std::optional<int> unit_exponent(std::span<const double> values) {
  constexpr size_t kRun = 256;
  std::optional<int> lowest;
  for (size_t at = 0; at < values.size(); at += kRun) {
    const auto run = values.subspan(at, std::min(kRun, values.size() - at));
    if (lowest && are_multiples(run, *lowest)) continue;
    const auto bit = lowest_bit(run);
    if (bit) lowest = std::min(lowest.value_or(*bit), *bit);
  }
  return lowest;
}

/// What exactness of a line's products depends on.
struct LineFacts {
  std::optional<int> unit;  ///< exponent of the lowest set bit of any value
  double largest = 0;       ///< magnitude
  double sum = 0;           ///< of magnitudes
};

std::vector<LineFacts> line_facts(const FormatOracle& format, const RawTensor& tensor,
                                  int64_t lines) {
  std::vector<LineFacts> facts(static_cast<size_t>(lines));
  for_ranges(lines, kTileRows, [&](int64_t line, int64_t end) {
    std::vector<double> values(static_cast<size_t>(tensor.shape.id()));
    for (; line < end; ++line) {
      format.dequantise(tensor, line, 0, values);
      LineFacts& of_line = facts[static_cast<size_t>(line)];
      of_line.unit = unit_exponent(values);
      const Eigen::Map<const Eigen::ArrayXd> all(values.data(), std::ssize(values));
      of_line.largest = all.abs().maxCoeff();
      of_line.sum = all.abs().sum();
    }
  });
  return facts;
}

/// Weights that are not zero times activations that were rounded to a fixed spacing.
void add_floor(double floor, const std::vector<LineFacts>& rows, const LineFacts& token,
               Eigen::Map<Eigen::ArrayXd>& bound) {
  for (Eigen::Index j = 0; j < bound.size(); ++j) {
    bound[j] += floor * rows[static_cast<size_t>(j)].sum * token.largest;
  }
}

bool exact_below(double magnitude, int unit) {
  constexpr int kLeastF32 = -149;
  return magnitude < std::ldexp(1.0, unit + 24) && unit >= kLeastF32 && magnitude < 0x1p128;
}

/// Whether no magnitude can be too large: it is at most the largest weight times the sum of the
/// activations' magnitudes. Both are multiples of their units: below 2^53 units nothing rounds.
bool exact_by_largest(const std::vector<LineFacts>& rows, const std::vector<LineFacts>& tokens) {
  std::atomic<bool> exact = true;
  for_ranges(std::ssize(rows), kTileRows, [&](int64_t row, int64_t end) {
    for (; row < end; ++row) {
      const LineFacts& w = rows[static_cast<size_t>(row)];
      for (const LineFacts& x : tokens) {
        if (w.unit && x.unit && !exact_below(w.largest * x.sum, *w.unit + *x.unit)) {
          exact = false;
        }
      }
    }
  });
  return exact;
}

}  // namespace

Terms add_up(const FormatOracle& weight_format, const RawTensor& weights,
             const FormatOracle& activation_format, const RawTensor& activations,
             int64_t exact_elems) {
  require_operands(weight_format, weights, activation_format, activations);
  const int64_t id = weights.shape.id();
  require_exact_terms(weight_format, exact_elems, id);
  require_exact_terms(activation_format, exact_elems, id);
  Terms out{weights.shape.with_tokens(activations.shape.nt()), exact_elems, {}, {}};
  const int64_t od = out.shape.od();
  for (auto* values : {&out.y, &out.magnitude}) {
    *values = SealedArray<double>(od * out.shape.nt());
  }
  const std::span<double> y_star = out.y.writable();
  const std::span<double> magnitudes = out.magnitude.writable();
  // Terms of one product are as many as products: two passes of longer ones take less.
  const bool single = exact_elems == 1;
  const int64_t group = single ? std::gcd(id, kTileElems) : exact_elems;
  for_tiles(weight_format, weights, activation_format, activations, group, Operands::kValues,
            [&](const Tile& tile, const Sums& sums) {
              dots_of(y_star, tile, od) = sums.y_of(tile);
              if (!single) dots_of(magnitudes, tile, od) = sums.magnitude_of(tile);
            });
  if (single) {
    for_tiles(weight_format, weights, activation_format, activations, group, Operands::kMagnitudes,
              [&](const Tile& tile, const Sums& sums) {
                dots_of(magnitudes, tile, od) = sums.y_of(tile);
              });
  }
  out.y.seal();
  out.magnitude.seal();
  return out;
}

SealedArray<double> bounds_of(const Terms& terms, const FormatOracle& weight_format,
                              const RawTensor& weights, const FormatOracle& activation_format,
                              const RawTensor& activations, const Arithmetic& arithmetic) {
  require(arithmetic.exact_elems == terms.exact_elems, "exact_elems", arithmetic.exact_elems,
          "not the " + std::to_string(terms.exact_elems) + " of the terms");
  const ErrorBound error = error_bound(arithmetic, terms.shape);
  const int64_t od = terms.shape.od();
  const int64_t nt = terms.shape.nt();
  SealedArray<double> out(od * nt);
  const std::span<double> bounds = out.writable();
  std::vector<LineFacts> rows, tokens;
  if (error.floor > 0) {
    rows = line_facts(weight_format, weights, od);
    tokens = line_facts(activation_format, activations, nt);
  }
  for_ranges(nt, grain_of(nt, od * int64_t{sizeof(double)}), [&](int64_t token, int64_t end) {
    for (; token < end; ++token) {
      const Eigen::Map<const Eigen::ArrayXd> magnitude(terms.magnitude.data() + token * od, od);
      Eigen::Map<Eigen::ArrayXd> bound(bounds.data() + token * od, od);
      require_finite_sums(magnitude, error, token);
      // Where magnitude is 0, so is every term, and nothing rounds.
      bound = (magnitude > 0).select(error.relative * magnitude + error.absolute, 0.0);
      if (error.floor > 0) add_floor(error.floor, rows, tokens[static_cast<size_t>(token)], bound);
    }
  });
  out.seal();
  return out;
}

Reference gemm(const FormatOracle& weight_format, const RawTensor& weights,
               const FormatOracle& activation_format, const RawTensor& activations,
               const Arithmetic& arithmetic) {
  Terms terms =
      add_up(weight_format, weights, activation_format, activations, arithmetic.exact_elems);
  SealedArray<double> bound =
      bounds_of(terms, weight_format, weights, activation_format, activations, arithmetic);
  return {terms.shape, std::move(terms.y), std::move(bound), std::move(terms.magnitude)};
}

bool exact_in_f32(const FormatOracle& weight_format, const RawTensor& weights,
                  const FormatOracle& activation_format, const RawTensor& activations) {
  require_operands(weight_format, weights, activation_format, activations);
  const auto rows = line_facts(weight_format, weights, weights.shape.od());
  const auto tokens = line_facts(activation_format, activations, activations.shape.nt());
  if (exact_by_largest(rows, tokens)) return true;
  const int64_t group = std::gcd(weights.shape.id(), kTileElems);
  std::atomic<bool> exact = true;
  for_tiles(weight_format, weights, activation_format, activations, group, Operands::kMagnitudes,
            [&](const Tile& tile, const Sums& sums) {
              const Rows8 magnitude = sums.magnitude_of(tile);
              for (int64_t t = 0; t < tile.tokens; ++t) {
                for (int64_t j = 0; j < tile.rows; ++j) {
                  const auto row = rows[static_cast<size_t>(tile.row + j)].unit;
                  const auto token = tokens[static_cast<size_t>(tile.token + t)].unit;
                  if (row && token && !exact_below(magnitude(j, t), *row + *token)) exact = false;
                }
              }
            });
  return exact;
}

}  // namespace planegate::oracle
