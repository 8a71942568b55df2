#include "cli/byte_size.h"

#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace planegate::cli {
namespace {

constexpr std::pair<const char*, int> kUnits[] = {
    {"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}};

}  // namespace

std::optional<int64_t> byte_size(const std::string& text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || number < 1) return std::nullopt;
  std::string unit(read.ptr, end);
  if (unit.empty()) return number;
  if (unit.front() == ' ') unit.erase(0, 1);
  for (const auto& [name, shift] : kUnits) {
    if (unit != name) continue;
    if (number > std::numeric_limits<int64_t>::max() >> shift) return std::nullopt;
    return number << shift;
  }
  return std::nullopt;
}

std::string byte_text(int64_t bytes) {
  for (const auto& [name, shift] : kUnits) {
    const int64_t one = int64_t{1} << shift;
    if (bytes >= one) {
      return fmt::format("{:.2f} {} ({} bytes)",
                         static_cast<double>(bytes) / static_cast<double>(one), name, bytes);
    }
  }
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

}  // namespace planegate::cli
