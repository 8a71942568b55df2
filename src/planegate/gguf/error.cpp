#include <fmt/format.h>

#include <planegate/gguf/error.h>

namespace planegate {
namespace {

std::string text_of(std::string_view path, int64_t offset, std::string_view field,
                    std::string_view value, std::string_view requirement,
                    std::string_view subject) {
  const std::string about = subject.empty() ? "" : fmt::format(" ({})", subject);
  return fmt::format("{}: byte {}: {}={}{}: {}", path, offset, field, value, about, requirement);
}

}  // namespace

GgufError::GgufError(std::string_view path, int64_t offset, std::string_view field,
                     std::string_view value, std::string_view requirement, std::string_view subject)
    : std::runtime_error(text_of(path, offset, field, value, requirement, subject)),
      path_(path),
      offset_(offset),
      field_(field),
      value_(value),
      requirement_(requirement),
      subject_(subject) {}

std::string quoted_text(std::string_view text) {
  constexpr size_t kMostBytes = 64;
  std::string out = "\"";
  for (const char c : text.substr(0, kMostBytes)) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    out += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  }
  return out + (text.size() > kMostBytes ? "\"..." : "\"");
}

}  // namespace planegate
