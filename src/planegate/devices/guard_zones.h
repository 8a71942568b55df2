#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include <planegate/devices/device.h>

namespace planegate::detail {

/// The first byte of `zone` (not empty) that is not `fill`; `zone` starts at `offset_bytes` of its
/// buffer.
inline std::optional<GuardBreach> first_breach(std::span<const std::byte> zone, std::byte fill,
                                               int64_t offset_bytes) {
  const bool alike = std::memcmp(zone.data(), zone.data() + 1, zone.size() - 1) == 0;
  if (alike && zone.front() == fill) return std::nullopt;
  const auto found = std::find_if(zone.begin(), zone.end(), [&](std::byte b) { return b != fill; });
  if (found == zone.end()) return std::nullopt;
  return GuardBreach{offset_bytes + (found - zone.begin()), *found};
}

}  // namespace planegate::detail
