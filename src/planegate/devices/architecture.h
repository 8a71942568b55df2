#pragma once

#include <optional>
#include <string>

namespace planegate {

/// Why code that was compiled for `needed` alone (`sm_90a`) does not run on a device of
/// architecture `here` (`sm_90`) out of a build for `built`, as CMAKE_CUDA_ARCHITECTURES spells it
/// with commas (`80-real,90a-real`): `cuda is sm_80` or `this build has no code for it
/// (CMAKE_CUDA_ARCHITECTURES=90-real)`; nullopt when it does run.
std::optional<std::string> architecture_lacking(const std::string& needed, const std::string& here,
                                                const std::string& built);

}  // namespace planegate
