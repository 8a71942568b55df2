#include "cli/ab_options.h"

#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/commands.h"

namespace planegate::cli {
namespace {

const CLI::Range kExtent(int64_t{1}, int64_t{1} << 32);

void add_device(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "auto (cuda where a GPU is present, else host), host, or cuda")
      ->check(CLI::IsMember({"auto", "host", "cuda"}))
      ->capture_default_str();
}

}  // namespace

void add_token(CLI::App& app, TokenArguments& a) {
  app.add_option("OUT", a.path, "file to write")->required()->check(not_empty);
  app.add_option("--consumer", a.consumers, "what will be timed (repeatable)")
      ->required()
      ->allow_extra_args(false);
  app.add_option("--od", a.od, "output dimension: rows of W")->check(kExtent);
  app.add_option("--id", a.id, "input dimension: weights per row")->check(kExtent);
  app.add_option("--nt", a.nt, "tokens")->required()->check(kExtent);
  app.add_option("--replay", a.model, "the shapes of this model instead of --od and --id")
      ->check(not_empty);
  app.add_option("--cases", a.cases, "of the sweep")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--seed", a.seed, "of payloads and of the sweep")
      ->check(is_seed)
      ->capture_default_str();
  add_device(app, a.device);
}

void add_ab(CLI::App& app, AbArguments& a) {
  app.add_option("--a", a.a, "consumer to compare with")->check(not_empty);
  app.add_option("--b", a.b, "consumer that was tried")->check(not_empty);
  app.add_option("--od", a.od, "output dimension: rows of W")->check(kExtent);
  app.add_option("--id", a.id, "input dimension: weights per row")->check(kExtent);
  app.add_option("--nt", a.nt, "tokens")->check(kExtent);
  app.add_option("--replay", a.model,
                 "instead of --od and --id: all GEMMs of this model, in the order of its layers")
      ->check(not_empty);
  app.add_option("--token", a.token, "file that `planegate token` wrote for both")
      ->check(not_empty);
  add_device(app, a.device);
  app.add_option("--cmd-a", a.cmd_a, "a program instead, run by a shell")->check(not_empty);
  app.add_option("--cmd-b", a.cmd_b, "the other program")->check(not_empty);
  app.add_option(
         "--metric", a.metric,
         "regular expression that finds the number in their standard output: the last match, its "
         "first group or all")
      ->check(not_empty);
  app.add_flag("--higher-is-better", a.higher_is_better, "of the metric; without it lower is");
  app.add_option("--gate-cmd", a.gate_cmd, "must succeed before and after; else UNGATED")
      ->check(not_empty);
  app.add_option("--binary", a.binaries, "file that may not change meanwhile (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--quads", a.quads, "of A B B A, two pairs each")
      ->check(CLI::Range(int64_t{6}, int64_t{100000}))
      ->capture_default_str();
  app.add_option("--bar", a.bar_percent, "percent; differences below it count for nothing")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--seed", a.seed, "of payloads and of resampling")
      ->check(is_seed)
      ->capture_default_str();
  app.add_option("--json", a.json, "also write the result to this file")->check(not_empty);
  app.add_option("--ledger", a.ledger, "append the result to this ledger")->check(not_empty);
  app.add_option("--mechanism", a.mechanism, "what was tried")->check(not_empty);
  app.add_option("--budget", a.budget, "budget of b")->check(not_empty);
  // An empty group hides it: for tests and demonstrations.
  app.add_option("--planted-launches", a.planted_launches)
      ->check(CLI::Range(int64_t{0}, int64_t{1000}))
      ->group("");
  auto* landed =
      app.add_flag("--landed", a.landed, "b is taken, unless it comes out slower or undecided");
  auto* reverted = app.add_flag("--reverted", a.reverted, "b was not taken")->excludes(landed);
  app.add_option("--retry-when", a.retry_when, "b waits for this")
      ->check(not_empty)
      ->excludes(landed)
      ->excludes(reverted);
}

}  // namespace planegate::cli
