#pragma once

#include <string>
#include <vector>

#include <planegate/core/catalog.h>

namespace planegate::cli {

/// The registered consumers of these names, in their order.
/// @throws CommandError(kWrongUse), its text starting with `option`, with the nearest names.
std::vector<const ConsumerSpec*> named_consumers(const Catalog& catalog, const std::string& option,
                                                 const std::vector<std::string>& names);

/// @throws CommandError(kWrongUse) for extents that no tensor has.
Shape shape_of(int64_t od, int64_t id, int64_t nt);

}  // namespace planegate::cli
