#include "cli/budget_options.h"

#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/commands.h"

namespace planegate::cli {
void add_budget(CLI::App& app, BudgetArguments& a) {
  app.add_option("--table", a.table, "what each kernel may take, and why")
      ->check(not_empty)
      ->capture_default_str();
  app.add_option("--reports", a.reports, "folder of the compiler's reports")
      ->check(not_empty)
      ->capture_default_str();
  app.add_option("--device", a.device,
                 "auto (compare with the attributes on the device where a GPU is present), host "
                 "(the reports alone), or cuda")
      ->check(CLI::IsMember({"auto", "host", "cuda"}))
      ->capture_default_str();
  auto* json = app.add_option("--json", a.json, "write kernels and breaches to this file as well")
                   ->check(not_empty);
  app.add_flag("--update", a.update,
               "write this build's figures into the table; reasons are kept, missing ones are left "
               "for you to write")
      ->excludes(json);
}

}  // namespace planegate::cli
