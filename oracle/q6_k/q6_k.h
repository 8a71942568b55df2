#pragma once

#include <planegate/core/catalog.h>

namespace planegate::oracle::q6_k {

/// Registers the q6_K format oracle and the mirrors of `raw`, `padded`, `w_exp` and
/// `w_dsc`.
///
/// Mirrors walk loops over rows, super-blocks and elements with a running pointer; they share
/// sizes with the producers and no index expression.
void register_oracle(Catalog& catalog);

}  // namespace planegate::oracle::q6_k
