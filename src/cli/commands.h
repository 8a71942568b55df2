#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace planegate::cli {

struct VerifyArguments {
  std::string model;  ///< empty: a sample model is made
  std::string tensor_glob = "*";
  std::vector<std::string> planes;
  std::vector<std::string> consumers;
  std::string device = "auto";
  int64_t nt = 70;
  uint64_t seed = 1;
  std::string json;
};

struct DemoArguments {
  std::string device = "auto";
};

struct SampleArguments {
  std::string path;
  std::string like = "mini";
  uint64_t seed = 1;
};

/// Each prints to stdout and returns the exit status.
/// @throws CommandError, GgufError.
ExitCode verify(const VerifyArguments& arguments);
ExitCode list();
ExitCode demo(const DemoArguments& arguments);
ExitCode sample(const SampleArguments& arguments);

}  // namespace planegate::cli
