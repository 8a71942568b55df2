#pragma once

#include <string>
#include <vector>

namespace planegate::cli {

struct ProgramRun {
  int status = -1;  ///< its exit status; -1: it did not start, or a signal ended it
  bool ended_by_signal = false;
  std::string out;  ///< stdout
  std::string err;  ///< stderr, or why it did not start
};

/// Runs `arguments[0]`, found in PATH, with stdin closed to it; no shell reads the arguments.
/// @throws std::filesystem::filesystem_error where no temporary file can be made.
ProgramRun run_program(std::vector<std::string> arguments);

}  // namespace planegate::cli
