#pragma once

#include <cstddef>

#include "gates/judged_arms.h"

namespace planegate::cli {

/// What the judges say of arm `index` of the corpus on cuda, found by another process of this
/// command: a fault that a GPU traps on ends the context of the whole process. All kStopped where a
/// signal ended that process.
/// @throws CommandError where it ended without an answer otherwise.
gates::JudgedArm judged_apart(size_t index);

/// What that process prints for judged_apart() to read: the marks at the judges' shapes and at
/// ours.
void print_judged(const gates::JudgedArm& judged);

}  // namespace planegate::cli
