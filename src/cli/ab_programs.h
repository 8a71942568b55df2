#pragma once

#include "cli/ab_consumers.h"

namespace planegate::cli {

/// Two commands of the user's, each run by a shell, and the number in their output that the
/// metric's expression finds. Gated where --gate-cmd succeeds before and after and the --binary
/// files stay as they are.
/// @throws CommandError: an expression that is none or matches nothing (kWrongUse), a command that
///         fails (kNothingVerified, with its last lines), a binary that changed.
AbReport ab_of_programs(const AbArguments& arguments, const OnToken& on_token);

}  // namespace planegate::cli
