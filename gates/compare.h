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
