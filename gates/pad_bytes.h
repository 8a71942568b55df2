#pragma once

#include <cstddef>
#include <span>

#include <planegate/core/contract.h>

namespace planegate::gates {

/// Sets every byte of a plane that no field covers: padding, lines and tokens that fill up a tile.
/// @pre plane.size() == contract.size_bytes(shape), else ContractError
/// @post the bytes that changed are those for which locate() finds nothing (unit_gates)
void fill_pads(const Contract& contract, const Shape& shape, std::byte value,
               std::span<std::byte> plane);

}  // namespace planegate::gates
