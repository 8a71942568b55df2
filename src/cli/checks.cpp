#include "cli/checks.h"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace planegate::cli {

std::string not_empty(const std::string& text) {
  return text.empty() ? "is empty" : "";
}

std::string not_negative(const std::string& text) {
  return text.starts_with('-') ? "must not be negative: " + text : "";
}

std::string is_seed(const std::string& text) {
  uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && stopped == end) return "";
  return fmt::format("'{}' must be a whole number from 0 to 2^64-1", text);
}

}  // namespace planegate::cli
