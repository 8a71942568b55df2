#include "cli/attribute_options.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace planegate::cli {

void add_attribute(CLI::App& app, AttributeArguments& a) {
  const CLI::Range work(1e-300, 1e300);
  auto* from = app.add_option("--from", a.from, "ncu --csv --page source --print-source sass");
  auto* raw = app.add_option("--raw", a.raw, "ncu --csv --page raw of the same launch");
  from->needs(raw);
  raw->needs(from);
  auto* against = app.add_option("--against", a.against,
                                 "SOURCE.csv RAW.csv of the variant to compare with: the one after")
                      ->expected(2);
  app.add_option("--work", a.work, "units of work of the launch")
      ->check(work)
      ->capture_default_str();
  app.add_option("--against-work", a.against_work, "units of work of the launch of --against")
      ->check(work)
      ->needs(against)
      ->capture_default_str();
  app.add_option("--top", a.top, "instructions to list")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}))
      ->capture_default_str();
  auto* consumer = app.add_option("--consumer", a.consumer, "profile one launch of it")
                       ->excludes(from)
                       ->excludes(raw);
  app.add_option("--od", a.od, "output dimension: rows of W")->needs(consumer);
  app.add_option("--id", a.id, "input dimension: weights per row")->needs(consumer);
  app.add_option("--nt", a.nt, "tokens")->needs(consumer);
  app.add_option("--ncu", a.ncu, "the profiler")->needs(consumer)->capture_default_str();
  app.add_option("--kernel", a.kernel, "regular expression: the kernel to profile")
      ->needs(consumer)
      ->capture_default_str();
  // An empty group hides it: the command calls itself with it.
  app.add_flag("--one-launch", a.one_launch, "launch the consumer once")
      ->needs(consumer)
      ->group("");
}

}  // namespace planegate::cli
