#include "oracle/lattice_draw.h"

namespace planegate::oracle {

__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) void
LatticeDraw::codes(int64_t line, int64_t k, int64_t min, int64_t max, std::span<int8_t> out) const {
  const int64_t least = std::max(min, -ranges_.code);
  const int64_t most = std::min(max, ranges_.code);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<int8_t>(pick(hash(line, k + static_cast<int64_t>(i), kCode), least, most));
  }
}

}  // namespace planegate::oracle
