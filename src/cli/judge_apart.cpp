#include "cli/judge_apart.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/mutants_text.h"

namespace planegate::cli {
namespace {

using gates::Judged;

std::vector<Judged> parsed(std::string_view marks) {
  std::vector<Judged> judged;
  for (const char mark : marks) judged.push_back(static_cast<Judged>(mark));
  return judged;
}

}  // namespace

gates::JudgedArm judged_apart(size_t index) {
  const size_t judges = gates::incumbents().size();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      fmt::format("'{}' mutants --device cuda --judge-arm {} 2>/dev/null", self, index);
  std::string out;
  if (FILE* pipe = popen(command.c_str(), "r"); pipe != nullptr) {
    std::array<char, 256> buffer;
    while (const size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      out.append(buffer.data(), read);
    }
    pclose(pipe);
  }
  if (out.size() != 2 * judges + 2 || out[judges] != ' ') {
    const std::vector<Judged> stopped(judges, Judged::kStopped);
    return {stopped, stopped};
  }
  return {parsed(std::string_view(out).substr(0, judges)),
          parsed(std::string_view(out).substr(judges + 1, judges))};
}

void print_judged(const gates::JudgedArm& judged) {
  fmt::print("{} {}\n", marks(judged.own), marks(judged.ours));
}

}  // namespace planegate::cli
