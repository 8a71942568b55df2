#include "gates/perf/budget_run.h"

#include <algorithm>

namespace planegate::perf {
namespace {

bool has_kernels(const Catalog& catalog) {
  return std::any_of(catalog.consumers().begin(), catalog.consumers().end(),
                     [](const auto& one) { return !one.kernels_on(DeviceKind::kCuda).empty(); });
}

}  // namespace

bool BudgetRun::has_instructions() const {
  return std::all_of(kernels.begin(), kernels.end(),
                     [](const BuiltKernel& kernel) { return kernel.instructions.has_value(); });
}

BudgetTable read_budgets(const std::filesystem::path& file) {
  return parsed_budgets(file.string(), report_text(file));
}

BudgetRun kernels_of_this_program(const Catalog& catalog, const std::filesystem::path& reports) {
  BudgetRun run;
  if (!has_kernels(catalog)) return run;
  const KernelReports read = read_kernel_reports(reports);
  run.toolchain = read.toolchain;
  run.kernels = built_kernels(catalog, read);
  run.breaches = not_in_program(run.kernels, report_text("/proc/self/exe"));
  return run;
}

BudgetRun budget_of_this_program(const Catalog& catalog, const std::filesystem::path& reports,
                                 const std::filesystem::path& table) {
  BudgetRun run = kernels_of_this_program(catalog, reports);
  if (run.kernels.empty()) return run;
  const BudgetTable budgets = read_budgets(table);
  run.table_toolchain = budgets.toolchain;
  const auto found = breaches(budgets, run.toolchain, run.kernels);
  run.breaches.insert(run.breaches.end(), found.begin(), found.end());
  return run;
}

}  // namespace planegate::perf
