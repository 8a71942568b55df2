#include <algorithm>

#include <fmt/format.h>

#include <planegate/core/errors.h>

#include "catalog/catalog.h"
#include "cli/commands.h"
#include "cli/explain_texts.h"

namespace planegate::cli {
namespace {

/// By its name, or as tables show it (`q6_K/w_exp`).
const Contract& find_plane(const Catalog& catalog, const char* argument, const std::string& name) {
  std::vector<std::string> names;
  for (const Contract* plane : catalog.planes()) {
    if (name == plane->name || name == plane->format + "/" + plane->name) return *plane;
    names.push_back(plane->name);
  }
  throw CommandError(kWrongUse, fmt::format("{} {}: no such plane; nearest: {}", argument, name,
                                            fmt::join(nearest(name, names), ", ")));
}

const char* lines_text(const Contract& plane) {
  return plane.role == Role::kWeights ? "rows of weights" : "tokens of activations";
}

const Contract& find_beside(const Catalog& catalog, const Contract& plane,
                            const std::string& name) {
  const Contract& beside = find_plane(catalog, "--beside", name);
  if (beside.role == plane.role) return beside;
  throw CommandError(kWrongUse,
                     fmt::format("--beside {}: holds {}, {} holds {}: nothing to compare", name,
                                 lines_text(beside), plane.name, lines_text(plane)));
}

}  // namespace

std::string explanation(const Catalog& catalog, const ExplainArguments& arguments) {
  const Contract& plane = find_plane(catalog, "PLANE", arguments.plane);
  const Contract* beside =
      arguments.beside.empty() ? nullptr : &find_beside(catalog, plane, arguments.beside);
  try {
    const Shape shape(arguments.od, arguments.id, arguments.nt);
    return beside == nullptr ? explain_plane(plane, shape) : explain_beside(plane, *beside, shape);
  } catch (const ContractError& error) {
    throw CommandError(kWrongUse, error.what());
  }
}

ExitCode explain(const ExplainArguments& arguments) {
  fmt::print("{}", explanation(shipped_catalog(), arguments));
  return kVerified;
}

}  // namespace planegate::cli
