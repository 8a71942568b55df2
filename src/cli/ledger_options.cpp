#include "cli/ledger_options.h"

#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/commands.h"

namespace planegate::cli {

void add_ledger(CLI::App& app, LedgerArguments& a) {
  app.add_option("FILE", a.path, "ledger: one JSON object a line")->required()->check(not_empty);
  auto* markdown = app.add_flag("--markdown", a.markdown, "a Markdown table");
  app.add_flag("--waiting", a.waiting, "only what waits, and for what");
  auto* svg =
      app.add_option("--svg", a.svg, "also plot the deltas into this file")->check(not_empty);
  auto* add = app.add_flag("--add", a.add, "append an entry measured elsewhere, UNGATED")
                  ->excludes(markdown)
                  ->excludes(svg);
  const auto member = [&](const std::string& name, auto& value, const std::string& text) {
    return app.add_option(name, value, text)->needs(add);
  };
  member("--mechanism", a.mechanism, "what was tried");
  member("--a", a.a, "name of what was compared with");
  member("--b", a.b, "name of what was tried");
  member("--on", a.device, "device of the measurement");
  member("--workload", a.workload, "shape or workload");
  member("--budget", a.budget, "budget of b");
  member("--kernel", a.kernel, "PERCENT,LOW,HIGH: kernel time of b against a, with interval");
  member("--wall", a.wall, "PERCENT,LOW,HIGH: wall time of b against a, with interval");
  member("--bar", a.bar_percent, "percent below which a difference counts for nothing");
  member("--vram-delta-bytes", a.vram_delta_bytes, "device memory of b less that of a");
  member("--pairs", a.pairs, "measured pairs")->check(not_negative);
  member("--comparison", a.comparison, "faster, slower, equivalent or undecided");
  member("--verdict", a.verdict, "reverted, measured-only or waiting");
  member("--retry-when", a.retry_when, "what has to hold for another try, of what is waiting");
}

}  // namespace planegate::cli
