#include "cli/census_options.h"

#include <CLI/CLI.hpp>

#include "cli/byte_size.h"
#include "cli/checks.h"
#include "cli/commands.h"

namespace planegate::cli {
namespace {

constexpr const char* kRule =
    "How --vram chooses: greedy by benefit per byte. Every tensor first gets the planes of its\n"
    "cheapest consumer; then dearer planes replace them where that moves a tensor to a consumer "
    "that\n"
    "Dispatch prefers. Benefit: places moved up among the tensor's choices, times its encoded "
    "bytes\n"
    "(what one pass over the weights reads). Ties: the tensor that comes first in the file, then "
    "fewer\n"
    "bytes. Planes alone are counted, no activations, no other tensors.";

/// Turns `2GiB` into bytes; CLI11 then reads a number.
std::string to_bytes(std::string& text) {
  const auto bytes = byte_size(text);
  if (!bytes) {
    return "'" + text + "' must be a whole number above 0 of bytes, KiB, MiB, GiB or TiB: 2GiB";
  }
  text = std::to_string(*bytes);
  return "";
}

}  // namespace

void add_census(CLI::App& app, CensusArguments& a) {
  app.add_option("MODEL", a.model, "GGUF file, or any part of a split")
      ->required()
      ->check(not_empty);
  app.add_option("--vram", a.vram_bytes, "SIZE: say which tensors get which planes within it")
      ->transform(CLI::Validator(to_bytes, "SIZE"));
  app.add_option("--nt", a.nt, "tokens of the launches: which consumers take them")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--device", a.device,
                 "auto (cuda where a GPU is present, else host), host, or cuda")
      ->check(CLI::IsMember({"auto", "host", "cuda"}))
      ->capture_default_str();
  app.add_option("--json", a.json, "write the census to this file as well")->check(not_empty);
  app.footer(kRule);
}

}  // namespace planegate::cli
