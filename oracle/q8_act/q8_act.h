#pragma once

#include <planegate/core/catalog.h>

namespace planegate::oracle::q8_act {

/// Registers the q8_0 activation format (with its quantiser from f32) and the mirrors of `qa8`,
/// `sda` and `pad40`.
///
/// Quantiser, per 32 elements: scale = amax/127 in f32, stored as f16 (round to nearest even);
/// the reciprocal 1/scale uses the unrounded f32 and is 0 where that overflows; code = x *
/// reciprocal rounded to nearest even, clamped to -128..127.
void register_oracle(Catalog& catalog);

}  // namespace planegate::oracle::q8_act
