#pragma once

namespace CLI {
class App;
}

namespace planegate::cli {

struct BudgetArguments;

/// The options of `budget`.
void add_budget(CLI::App& app, BudgetArguments& arguments);

}  // namespace planegate::cli
