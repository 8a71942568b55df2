#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace planegate {

/// A new content for `target`: all of it or nothing. Written beside the target under a temporary
/// name, which commit() turns into the target's; without commit() it is removed.
class ReplacingFile {
 public:
  /// All members throw std::filesystem::filesystem_error with the target and the reason.
  explicit ReplacingFile(std::filesystem::path target);
  ~ReplacingFile();
  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  void append(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int fd_ = -1;
};

}  // namespace planegate
