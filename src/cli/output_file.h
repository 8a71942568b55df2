#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <planegate/gguf/model.h>
#include <planegate/gguf/replacing_file.h>

namespace planegate::cli {

/// The file to write where the user named `path`, a link followed to its target. Output replaces
/// files whole.
/// @throws CommandError(kWrongUse), its text starting with `what`, where `path` is a directory, a
///         device or a pipe (replacing would destroy it), or the file `input`.
std::filesystem::path output_file(const std::string& what, const std::string& path,
                                  const std::string& input = {});

/// Opens the file that the user named with option `what`; nothing for an empty path. Called before
/// the work starts: a file that cannot be written fails then.
/// @throws CommandError(kWrongUse) as output_file(), and where the folder cannot be written.
void open_output(const std::string& what, const std::string& path, const std::string& input,
                 std::optional<ReplacingFile>& file);

/// Output must not replace any part of a split either.
/// @throws CommandError(kWrongUse) as output_file().
void require_no_part(const std::string& what, const std::string& path, const GgufModel& model);

}  // namespace planegate::cli
