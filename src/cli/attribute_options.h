#pragma once

namespace CLI {
class App;
}

namespace planegate::cli {

struct AttributeArguments;

/// The options of `planegate attribute`; `app` and `arguments` outlive the parse.
void add_attribute(CLI::App& app, AttributeArguments& arguments);

}  // namespace planegate::cli
