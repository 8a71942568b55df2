#pragma once

#include <planegate/core/catalog.h>

namespace planegate::producers::q6_k {

/// Registers the host producers of `raw`, `padded`, `w_exp` and `w_dsc` from q6_K tensors.
///
/// Closed forms: each output byte from its own index, on all cores. `w_dsc` refuses, with a
/// ContractError, a tensor with a scale d that is not finite: it has no product to write.
void register_producers(Catalog& catalog);

}  // namespace planegate::producers::q6_k
