#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace planegate {

/// The bytes of a regular file, mapped read-only. Its address is the owner's handle: not movable.
class MappedFile {
 public:
  /// @throws GgufError with the field `file` for a file that is missing, unreadable, empty, or not
  ///         a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace planegate
