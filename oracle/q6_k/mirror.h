#pragma once

#include <planegate/core/specs.h>

namespace planegate::oracle::q6_k {

/// Encoded size of od rows. @throws ContractError when id is not a multiple of 256.
int64_t size_bytes(const Shape& shape);

/// Mirrors, as PlaneWriter says: every byte of the plane, from the blocks of `raw`.
void mirror_raw(const RawTensor& raw, std::span<std::byte> plane);
void mirror_w_exp(const RawTensor& raw, std::span<std::byte> plane);

}  // namespace planegate::oracle::q6_k
