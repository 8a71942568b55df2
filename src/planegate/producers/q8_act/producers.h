#pragma once

#include <planegate/core/catalog.h>

namespace planegate::producers::q8_act {

/// Registers the host producers of `qa8`, `sda` and `pad40` from f32 activations (nt, id).
///
/// Per 32 elements: scale = amax/127 in f32, stored as f16; codes use the reciprocal of the
/// unrounded f32 scale (0 where that overflows), round to nearest even, clamp to -128..127. Tokens
/// beyond nt are zero. Refused with a ContractError: an element that is not finite, or so large
/// that the scale has no finite f16.
void register_producers(Catalog& catalog);

}  // namespace planegate::producers::q8_act
