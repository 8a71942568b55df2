#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace planegate {

/// The bytes of a regular file, mapped read-only, or bytes that somebody else holds. Its address is
/// the owner's handle: not movable.
class MappedFile {
 public:
  /// @throws GgufError with the field `file` for a file that is missing, unreadable, empty, or not
  ///         a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  /// `bytes` must outlive it; `path` names them in errors.
  MappedFile(std::string path, std::span<const std::byte> bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
  bool mapped_ = false;
};

}  // namespace planegate
