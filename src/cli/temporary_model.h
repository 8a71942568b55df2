#pragma once

#include <filesystem>

namespace planegate::cli {

/// A file name of its own in the temporary folder; the file is removed at the end.
class TemporaryModel {
 public:
  /// @throws filesystem_error where no file can be made there.
  TemporaryModel();
  ~TemporaryModel();
  TemporaryModel(const TemporaryModel&) = delete;
  TemporaryModel& operator=(const TemporaryModel&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace planegate::cli
