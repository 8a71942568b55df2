#pragma once

#include <planegate/core/catalog.h>

namespace planegate::producers::q6_k {

/// Registers the host producers of `raw` and `w_exp` from q6_K tensors.
///
/// Closed forms: each output byte from its own index, on all cores.
void register_producers(Catalog& catalog);

}  // namespace planegate::producers::q6_k
