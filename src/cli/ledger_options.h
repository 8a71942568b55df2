#pragma once

namespace CLI {
class App;
}

namespace planegate::cli {

struct LedgerArguments;

/// The options of `planegate ledger`; `app` and `arguments` outlive the parse.
void add_ledger(CLI::App& app, LedgerArguments& arguments);

}  // namespace planegate::cli
