#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>

namespace planegate {

/// The bytes of a file, of which the first `most` are read; a pipe is read to its end.
///
/// @throws std::filesystem::filesystem_error with the path and why it cannot be read: it is
/// missing, a directory, not ours to read.
std::string file_content(const std::filesystem::path& path,
                         size_t most = std::numeric_limits<size_t>::max());

}  // namespace planegate
