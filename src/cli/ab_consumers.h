#pragma once

#include <functional>
#include <string>

#include "cli/ab_text.h"
#include "cli/commands.h"

namespace planegate::cli {

/// Called with the token, or UNGATED, once it is checked and before anything is timed. May throw.
using OnToken = std::function<void(const std::string& token)>;

/// Two consumers of this program: the token is checked, a lattice runs again, both are timed, their
/// outputs are verified again.
/// @throws CommandError(kNothingVerified) naming what is missing; no number is printed then.
AbReport ab_of_consumers(const AbArguments& arguments, const OnToken& on_token);

}  // namespace planegate::cli
