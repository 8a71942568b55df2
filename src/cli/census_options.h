#pragma once

namespace CLI {
class App;
}

namespace planegate::cli {

struct CensusArguments;

/// The options of `census`.
void add_census(CLI::App& app, CensusArguments& arguments);

}  // namespace planegate::cli
