#pragma once

namespace CLI {
class App;
}

namespace planegate::cli {

struct AbArguments;
struct TokenArguments;

void add_token(CLI::App& app, TokenArguments& arguments);
void add_ab(CLI::App& app, AbArguments& arguments);

}  // namespace planegate::cli
