#pragma once

#include "kernels/q6_k/known_bad/activation_addresses.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using BadAddresses = Joined<BadCodeAddresses, BadScaleAddresses, BadActivationAddresses>;

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
