#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace planegate::cli {

/// `2GiB`, `512 MiB`, `64KiB`, `1TiB`, `4096`: whole numbers above 0, in bytes.
/// nullopt for anything else, and for 2^63 bytes or more.
std::optional<int64_t> byte_size(const std::string& text);

/// `1.25 GiB (1342177280 bytes)`; `512 bytes` below a KiB.
std::string byte_text(int64_t bytes);

}  // namespace planegate::cli
