#pragma once

#include <array>
#include <cstdint>

/// The sweep: sorted, tile-aware sizes. An index into them shrinks to the smallest size that fails.
namespace planegate::fuzz {

inline constexpr std::array<int64_t, 19> kOd = {1,  2,  3,  7,   8,   9,   15,  16,  17, 63,
                                                64, 65, 70, 127, 128, 129, 255, 256, 257};
inline constexpr std::array<int64_t, 8> kNsb = {1, 2, 3, 7, 8, 14, 20, 74};
inline constexpr std::array<int64_t, 29> kNt = {1,  2,  3,  8,  9,  16, 17,  18,  19, 20,
                                                21, 22, 23, 24, 25, 26, 27,  28,  29, 30,
                                                31, 33, 63, 64, 65, 70, 128, 129, 256};

}  // namespace planegate::fuzz
