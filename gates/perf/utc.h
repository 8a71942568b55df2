#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace planegate::perf {

/// `2026-01-31T12:00:00Z`.
std::string utc_now();

/// Seconds since 1970 of such a text; nullopt for any other.
std::optional<int64_t> seconds_of_utc(const std::string& text);

}  // namespace planegate::perf
