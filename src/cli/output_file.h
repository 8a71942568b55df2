#pragma once

#include <filesystem>
#include <string>

namespace planegate::cli {

/// The file to write where the user named `path`, a link followed to its target. Output replaces
/// files whole.
/// @throws CommandError(kWrongUse), its text starting with `what`, where `path` is a directory, a
///         device or a pipe (replacing would destroy it), or the file `input`.
std::filesystem::path output_file(const std::string& what, const std::string& path,
                                  const std::string& input = {});

}  // namespace planegate::cli
