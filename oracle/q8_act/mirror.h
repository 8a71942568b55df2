#pragma once

#include <planegate/core/specs.h>

namespace planegate::oracle::q8_act {

/// Encoded size of nt lines. @throws ContractError when id is not a multiple of 32.
int64_t size_bytes(const Shape& shape);

/// Mirrors, as PlaneWriter says: every byte of the plane, from q8_0 chunks.
void mirror_qa8(const RawTensor& raw, std::span<std::byte> plane);
void mirror_sda(const RawTensor& raw, std::span<std::byte> plane);
void mirror_pad40(const RawTensor& raw, std::span<std::byte> plane);

}  // namespace planegate::oracle::q8_act
