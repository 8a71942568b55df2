#include "cli/output_file.h"

#include <fmt/format.h>

#include "cli/exit_code.h"

namespace planegate::cli {

namespace fs = std::filesystem;

fs::path output_file(const std::string& what, const std::string& path, const std::string& input) {
  const auto refuse = [&](const char* why) {
    throw CommandError(kWrongUse, fmt::format("{} {}: {}", what, path, why));
  };
  std::error_code none;
  const fs::file_status status = fs::status(path, none);
  if (fs::is_directory(status)) refuse("is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse("is no regular file");
  if (!input.empty() && fs::equivalent(path, input, none)) refuse("is the model itself");
  return fs::is_symlink(path, none) && fs::exists(status) ? fs::canonical(path) : fs::path(path);
}

void open_output(const std::string& what, const std::string& path, const std::string& input,
                 std::optional<ReplacingFile>& file) {
  if (path.empty()) return;
  const fs::path target = output_file(what, path, input);
  try {
    file.emplace(target);
  } catch (const fs::filesystem_error& error) {
    throw CommandError(kWrongUse, fmt::format("{} {}: {}", what, path, error.code().message()));
  }
}

void require_no_part(const std::string& what, const std::string& path, const GgufModel& model) {
  if (path.empty()) return;
  for (const GgufFile& file : model.files()) output_file(what, path, file.path());
}

}  // namespace planegate::cli
