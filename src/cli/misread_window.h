#pragma once

#include <string>

#include "cli/misread.h"

namespace planegate::cli {

/// Up to 16 values from `from` on, all of one super-block, drawn: which were wanted, and which
/// stand at the wrong addresses.
std::string window_text(const Contract& plane, const Misread& misread, const Shape& shape,
                        const Misread::Value& from);

}  // namespace planegate::cli
