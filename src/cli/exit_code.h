#pragma once

#include <stdexcept>

namespace planegate::cli {

/// What the command's exit status says.
enum ExitCode : int {
  kVerified = 0,         ///< everything that was asked for was verified
  kGateFailed = 1,       ///< a gate failed
  kWrongUse = 2,         ///< wrong use of the command
  kBadInput = 3,         ///< a missing, unreadable or malformed file, or stdout cannot be written
  kNothingVerified = 4,  ///< nothing was verified, or refused
};

/// Ends a command with a message on stderr.
class CommandError : public std::runtime_error {
 public:
  CommandError(ExitCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace planegate::cli
