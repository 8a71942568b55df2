#pragma once

#include <planegate/core/specs.h>

namespace planegate::oracle::q6_k {

/// Encoded size of od rows. @throws ContractError when id is not a multiple of 256.
int64_t size_bytes(const Shape& shape);

/// The first block, in the file's order, whose d is NaN or infinite.
std::optional<NonFiniteScale> first_non_finite(const RawTensor& raw);

/// Mirrors, as PlaneWriter says: every byte of the plane, from the blocks of `raw`.
void mirror_raw(const RawTensor& raw, std::span<std::byte> plane);
void mirror_padded(const RawTensor& raw, std::span<std::byte> plane);
void mirror_w_exp(const RawTensor& raw, std::span<std::byte> plane);
/// The products are those of IEEE: where d or sc is 0 the result is 0 with the sign of the product.
/// @throws ContractError for a d that is not finite, beside what PlaneWriter says.
void mirror_w_dsc(const RawTensor& raw, std::span<std::byte> plane);

}  // namespace planegate::oracle::q6_k
