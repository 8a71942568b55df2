#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "cli/exit_code.h"

namespace planegate::cli {

/// The content of the file that the user named; at most `most` bytes of it.
///
/// `what` says where it was named: an option, or nothing for an argument of the command.
/// @throws CommandError(code): what, the path and why it cannot be read, or that it is empty.
std::string input_content(const std::string& what, const std::string& path,
                          ExitCode code = kBadInput,
                          size_t most = std::numeric_limits<size_t>::max());

}  // namespace planegate::cli
