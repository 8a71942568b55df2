#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gates/perf/budget.h"

namespace planegate::perf {

/// A build beside its table.
struct BudgetRun {
  std::string toolchain;
  std::string table_toolchain;       ///< of the table, empty without one
  std::vector<BuiltKernel> kernels;  ///< empty where no compiler of a device was there
  std::vector<Breach> breaches;

  /// Whether every kernel was disassembled.
  bool has_instructions() const;
};

/// @throws ReportError: the file is missing, unreadable or malformed.
BudgetTable read_budgets(const std::filesystem::path& file);

/// The kernels of the running program: `reports` against `table`, and their code against the
/// program's own. Nothing is read where `catalog` has no kernels of a device.
/// @throws ReportError, ContractError.
BudgetRun budget_of_this_program(const Catalog& catalog, const std::filesystem::path& reports,
                                 const std::filesystem::path& table);
/// The same kernels, without a table.
BudgetRun kernels_of_this_program(const Catalog& catalog, const std::filesystem::path& reports);

}  // namespace planegate::perf
