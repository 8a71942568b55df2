#include "cli/input_content.h"

#include <filesystem>

#include <fmt/format.h>

#include <planegate/core/file_content.h>

namespace planegate::cli {

std::string input_content(const std::string& what, const std::string& path, ExitCode code,
                          size_t most) {
  const std::string named = what.empty() ? path : what + " " + path;
  try {
    std::string content = file_content(path, most);
    if (content.empty()) throw CommandError(code, named + ": is empty");
    return content;
  } catch (const std::filesystem::filesystem_error& error) {
    throw CommandError(code, fmt::format("{}: {}", named, error.code().message()));
  }
}

}  // namespace planegate::cli
