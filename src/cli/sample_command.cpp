#include <filesystem>

#include <fmt/format.h>

#include "catalog/catalog.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/sample_model.h"

namespace planegate::cli {

ExitCode sample(const SampleArguments& arguments) {
  write_sample(shipped_catalog(), output_file("OUT", arguments.path), arguments.like,
               arguments.seed);
  fmt::print("{}: {} bytes, {}\n", arguments.path, std::filesystem::file_size(arguments.path),
             sample_text(arguments.like));
  return kVerified;
}

}  // namespace planegate::cli
