#pragma once

#include <string>
#include <vector>

#include "gates/perf/attribution.h"

namespace planegate::cli {

/// Classes with absolute samples and, where both instruments agree, shares; then the instructions
/// that wait most, `most` of them, and what each waits for.
std::string attribution_text(const perf::SourceProfile& source, const perf::Attribution& found,
                             size_t most);

/// Two variants by samples per unit of work.
std::string comparison_text(const std::vector<perf::ClassChange>& changes);

}  // namespace planegate::cli
