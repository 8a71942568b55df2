#include "gates/perf/occupancy.h"

#include <algorithm>
#include <map>

#include <planegate/core/errors.h>

namespace planegate::perf {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kWarpThreads = 32;

int64_t rounded_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

SmLimits sm(int64_t warps, int64_t blocks, int64_t shared_bytes) {
  SmLimits limits;
  limits.warps = warps;
  limits.blocks = blocks;
  limits.shared_bytes = shared_bytes;
  return limits;
}

}  // namespace

std::string without_letter(std::string architecture) {
  const char last = architecture.empty() ? '0' : architecture.back();
  if (last >= 'a' && last <= 'z') architecture.pop_back();
  return architecture;
}

SmLimits limits_of(const std::string& architecture) {
  static const std::map<std::string, SmLimits> known = {
      {"sm_80", sm(64, 32, 164 * kKiB)}, {"sm_86", sm(48, 16, 100 * kKiB)},
      {"sm_87", sm(48, 16, 164 * kKiB)}, {"sm_89", sm(48, 24, 100 * kKiB)},
      {"sm_90", sm(64, 32, 228 * kKiB)},
  };
  const auto found = known.find(without_letter(architecture));
  if (found == known.end()) {
    throw ContractError("architecture", architecture,
                        "one whose limits are known: sm_80, sm_86, sm_87, sm_89, sm_90");
  }
  return found->second;
}

int64_t blocks_per_sm(const SmLimits& sm, int64_t threads, int64_t registers,
                      int64_t shared_bytes) {
  require(threads >= 1, "threads", threads, "at least 1");
  require(registers >= 0, "registers", registers, "not negative");
  require(shared_bytes >= 0, "shared_bytes", shared_bytes, "not negative");
  const int64_t warps = (threads + kWarpThreads - 1) / kWarpThreads;
  int64_t blocks = std::min(sm.blocks, sm.warps / warps);
  if (registers > 0) {
    const int64_t of_a_warp = rounded_up(registers * kWarpThreads, sm.register_unit);
    const int64_t warps_that_fit = sm.registers / of_a_warp / sm.warp_unit * sm.warp_unit;
    blocks = std::min(blocks, warps_that_fit / warps);
  }
  const int64_t of_a_block = rounded_up(shared_bytes + sm.reserved_shared_bytes, sm.shared_unit);
  return std::min(blocks, sm.shared_bytes / of_a_block);
}

}  // namespace planegate::perf
