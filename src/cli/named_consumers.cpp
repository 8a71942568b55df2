#include "cli/named_consumers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planegate/core/errors.h>

#include "cli/exit_code.h"

namespace planegate::cli {

std::vector<const ConsumerSpec*> named_consumers(const Catalog& catalog, const std::string& option,
                                                 const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const ConsumerSpec& consumer : catalog.consumers()) known.push_back(consumer.name);
  std::vector<const ConsumerSpec*> found;
  for (const std::string& name : names) {
    found.push_back(catalog.consumer(name));
    if (found.back() != nullptr) continue;
    throw CommandError(kWrongUse, fmt::format("{} {}: no such consumer; nearest: {}", option, name,
                                              fmt::join(nearest(name, known), ", ")));
  }
  return found;
}

Shape shape_of(int64_t od, int64_t id, int64_t nt) {
  try {
    return Shape(od, id, nt);
  } catch (const ContractError& error) {
    throw CommandError(kWrongUse, error.what());
  }
}

}  // namespace planegate::cli
