#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <planegate/core/catalog.h>

namespace planegate::cli {

/// Names of the sample models, for help texts: `mini, qwen2.5-7b`.
std::string sample_names();

/// Writes a synthetic GGUF model: tensor names and shapes of a real one, weights by hash(seed)
/// with scales as a quantiser leaves them. One tensor in memory at a time.
/// @throws CommandError for an unknown name (nearest names given), filesystem_error.
void write_sample(const Catalog& catalog, const std::filesystem::path& path,
                  const std::string& like, uint64_t seed);

/// What a sample holds, in one line.
std::string sample_text(const std::string& like);

}  // namespace planegate::cli
