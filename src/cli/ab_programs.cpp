#include "cli/ab_programs.h"

#include <charconv>
#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "cli/progress.h"
#include "cli/run_program.h"
#include "gates/perf/token.h"

namespace planegate::cli {
namespace {

constexpr size_t kShownBytes = 800;

/// The end of what a program printed.
std::string shown(const std::string& said) {
  return said.size() > kShownBytes ? said.substr(said.size() - kShownBytes) : said;
}

std::string output_of(const std::string& what, const std::string& command) {
  const ProgramRun ran = run_program({"/bin/sh", "-c", command});
  if (ran.status == 0) return ran.out;
  throw CommandError(kNothingVerified, fmt::format("{} failed, exit status {}: {}\n{}", what,
                                                   ran.status, command, shown(ran.out + ran.err)));
}

std::regex expression(const std::string& metric) {
  try {
    return std::regex(metric, std::regex::ECMAScript | std::regex::multiline);
  } catch (const std::regex_error& error) {
    throw CommandError(
        kWrongUse, fmt::format("--metric {}: is no regular expression: {}", metric, error.what()));
  }
}

/// The number of the last match: its first group, or all of it.
double metric_of(const std::string& what, const std::string& out, const std::regex& metric,
                 const AbArguments& a) {
  std::string found;
  for (auto match = std::sregex_iterator(out.begin(), out.end(), metric);
       match != std::sregex_iterator(); ++match) {
    found = match->size() > 1 ? (*match)[1].str() : match->str();
  }
  double value = 0;
  const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
  if (found.empty()) {
    throw CommandError(kWrongUse,
                       fmt::format("--metric {}: matches nothing on the standard output of {}:\n{}",
                                   a.metric, what, out.empty() ? "(empty)" : shown(out)));
  }
  if (error != std::errc() || end != found.data() + found.size() || !(value > 0)) {
    throw CommandError(kWrongUse, fmt::format("--metric {}: '{}' of {} is no number above 0",
                                              a.metric, found, what));
  }
  return a.higher_is_better ? 1 / value : value;
}

/// SHA-256 of each binary, in order.
std::string binaries_of(const AbArguments& a) {
  std::string hashes;
  for (const std::string& path : a.binaries) hashes += perf::sha256_of_file(path) + " ";
  return hashes;
}

/// Runs the gate; a checksum of it and the binaries, or UNGATED.
std::string gate(const AbArguments& a) {
  if (a.gate_cmd.empty() != a.binaries.empty()) {
    throw CommandError(kWrongUse, "--gate-cmd and --binary go together");
  }
  if (a.gate_cmd.empty()) return perf::kUngated;
  const std::string binaries = binaries_of(a);
  output_of("--gate-cmd", a.gate_cmd);
  return perf::sha256(a.gate_cmd + "\n" + binaries);
}

}  // namespace

AbReport ab_of_programs(const AbArguments& a, const OnToken& on_token) {
  const std::regex metric = expression(a.metric);
  const std::string token = gate(a);
  on_token(token);
  Progress progress;
  const auto of = [&](const char* what, const std::string& command) -> perf::Measure {
    return [&, what, command] {
      return perf::Sample{metric_of(what, output_of(what, command), metric, a), std::nullopt};
    };
  };
  perf::AbPlan plan;
  plan.a = of("--cmd-a", a.cmd_a);
  plan.b = of("--cmd-b", a.cmd_b);
  plan.quads = a.quads;
  plan.warm_up = 1;
  plan.bar_percent = a.bar_percent;
  plan.seed = a.seed;
  plan.on_stage = [&](const std::string& what) { progress.show(what); };
  AbReport report;
  report.a = a.cmd_a;
  report.b = a.cmd_b;
  report.workload = "metric " + a.metric;
  report.device = "programs";
  report.seconds = false;
  report.higher_is_better = a.higher_is_better;
  report.token = token;
  if (report.gated()) report.gate = perf::kGateOfCommand + a.gate_cmd;
  report.bar_percent = a.bar_percent;
  report.result = perf::measure(plan);
  progress.clear();
  if (gate(a) != token) {
    throw CommandError(kNothingVerified, "no number: a --binary changed while it was timed");
  }
  return report;
}

}  // namespace planegate::cli
