#pragma once

#include <string>

namespace planegate::cli {

/// Checks of option values for CLI11: empty, or what is wrong.

/// An empty argument is a shell variable that was not set: refused, not taken as left out.
std::string not_empty(const std::string& text);
/// CLI11 would let a negative number wrap around.
std::string not_negative(const std::string& text);
/// And cut one that is too large.
std::string is_seed(const std::string& text);

}  // namespace planegate::cli
