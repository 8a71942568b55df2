#pragma once

#include <planegate/core/catalog.h>

namespace planegate::producers::q8_act {

/// Registers the host producers of `qa8` and `sda` from f32 activations (nt, id).
///
/// Per 32 elements: scale = amax/127 in f32, stored as f16; codes use the reciprocal of the
/// unrounded f32 scale, round to nearest even, clamp to -128..127. Tokens beyond nt are zero.
void register_producers(Catalog& catalog);

}  // namespace planegate::producers::q8_act
