#pragma once

#include <planegate/simt/dialect.h>

namespace planegate::simt {
inline namespace PLANEGATE_SIMT_ABI {

/// Liveness: thread 0 of a block leaves its stamp, one 16-byte store; `to` is null when off.
PLANEGATE_DEVICE void leave_stamp(GlobalPtr<Words4> to, Words4 stamp) {
  if (!to || thread() != 0) return;
  const int block = block_y() * grid_x() + block_x();
  stamp.w[3] = static_cast<uint32_t>(block) + 1;
  to.store(block, stamp);
}

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::simt
