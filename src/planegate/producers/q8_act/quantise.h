#pragma once

#include <array>

#include <planegate/core/specs.h>
#include <planegate/formats/q8_act/contracts.h>

/// What the host producers of all activation planes share: the quantiser and its preconditions.
namespace planegate::producers::q8_act {

inline constexpr const char* kFrom = "f32";
inline constexpr int64_t kElemBytes = 4;

/// One token's 32 elements, quantised.
struct Chunk {
  std::array<int8_t, planegate::q8_act::kChunkElems> codes{};
  uint16_t scale_f16 = 0;

  int32_t sum() const;
};

/// @param from 32 f32 at any address. @pre require_input holds for the tensor they belong to.
Chunk quantise(const std::byte* from);

/// Sizes and format fit, and every element has a finite f16 scale.
/// @throws ContractError naming the first token and k that has none.
void require_input(const RawTensor& raw, const Contract& plane, std::span<std::byte> out);

}  // namespace planegate::producers::q8_act
