#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <planegate/core/contract.h>
#include <planegate/core/gate_report.h>

namespace planegate::gates {

/// Every byte of a plane against what it must be; the first difference with its coordinates and
/// the 16 bytes around it. All cores.
/// @pre equal sizes; want and have share no byte: what is judged cannot be its own reference.
/// @throws ContractError when a precondition does not hold.
Difference compare_bytes(const Contract& contract, const Shape& shape,
                         std::span<const std::byte> want, std::span<const std::byte> have);

/// compare_bytes() of a range that comes piece by piece, from its first byte to its last: a copy
/// can go on while what has come is compared.
class ByteComparison {
 public:
  /// `want` must live until finish(). @pre want.size() == contract.size_bytes(shape)
  ByteComparison(const Contract& contract, const Shape& shape, std::span<const std::byte> want);

  /// The bytes that follow those added before. @throws ContractError as compare_bytes().
  void add(std::span<const std::byte> have);
  /// @throws ContractError unless as many bytes were added as were wanted.
  Difference finish();

 private:
  int64_t window_begin() const;

  const Contract& contract_;
  Shape shape_;
  std::span<const std::byte> want_;
  int64_t added_ = 0;
  int64_t first_ = 0;
  Difference difference_;
  std::vector<std::byte> window_;  ///< what came around the first difference
};

/// Every element of Y (nt, od) against Y*: equal in value to the f32 that y* is, or, with a bound,
/// |y - y*| <= bound. NaN and elements that were never written differ.
/// @pre want.size() == have.size() == nt*od; bound is empty or of that size; have shares no byte
/// with want or bound. @throws ContractError when a precondition does not hold.
Difference compare_elements(const Shape& shape, std::span<const double> want,
                            std::span<const double> bound, std::span<const float> have);

/// How many elements still hold kUnwritten.
int64_t count_unwritten(std::span<const float> y);

/// Two outputs, bit by bit. @pre as compare_elements.
Difference compare_bits(const Shape& shape, std::span<const float> want,
                        std::span<const float> have);

/// Output buffers are filled with this byte before a launch: an f32 of four such bytes is a NaN
/// that no arithmetic produces.
inline constexpr std::byte kUnwritten{0xFF};

}  // namespace planegate::gates
