#pragma once

#include <vector>

#include <planegate/core/specs.h>

namespace planegate::oracle::q8_act {

/// q8_0 chunks of an f32 tensor, by the definition in q8_act.h.
///
/// Where 1/scale overflows f32 (amax below 2^-121), the f16 scale is 0 and so are the codes.
/// @throws ContractError for an element that is NaN or infinite, naming token and k, and for a
/// chunk whose scale overflows f16.
std::vector<std::byte> quantise(const RawTensor& f32);

}  // namespace planegate::oracle::q8_act
