#include "cli/judge_apart.h"

#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/mutants_text.h"
#include "cli/run_program.h"

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
  const ProgramRun child =
      run_program({self, "mutants", "--device", "cuda", "--judge-arm", std::to_string(index)});
  if (child.status < 0 && child.ended_by_signal) {
    const std::vector<Judged> stopped(judges, Judged::kStopped);
    return {stopped, stopped};
  }
  if (child.status != 0 || child.out.size() != 2 * judges + 2 || child.out[judges] != ' ') {
    throw CommandError(kNothingVerified,
                       fmt::format("judging arm {} in a process of its own: exit status {}: {}",
                                   index, child.status, child.err));
  }
  const std::string_view out = child.out;
  return {parsed(out.substr(0, judges)), parsed(out.substr(judges + 1, judges))};
}

void print_judged(const gates::JudgedArm& judged) {
  fmt::print("{} {}\n", marks(judged.own), marks(judged.ours));
}

}  // namespace planegate::cli
