#pragma once

#include <array>

#include <rapidcheck.h>

#include <planegate/core/shape.h>

/// Generated shapes: indices into sorted, tile-aware lists, so that a failure shrinks to the
/// smallest extents that show it.
namespace planegate::fuzz {

inline constexpr std::array<int64_t, 19> kOd = {1,  2,  3,  7,   8,   9,   15,  16,  17, 63,
                                                64, 65, 70, 127, 128, 129, 255, 256, 257};
inline constexpr std::array<int64_t, 5> kNsb = {1, 2, 3, 7, 8};
inline constexpr std::array<int64_t, 16> kNt = {1,  2,  3,  8,  9,  16, 17,  23,
                                                31, 33, 63, 64, 65, 70, 128, 129};

template <size_t N>
rc::Gen<int64_t> one_of(const std::array<int64_t, N>& sorted) {
  return rc::gen::map(rc::gen::inRange<size_t>(0, N), [&sorted](size_t i) { return sorted[i]; });
}

/// One generated case: a shape and the seed of its payloads.
struct Case {
  Shape shape{1, 256, 1};
  uint64_t seed = 1;
};

inline rc::Gen<Case> any_case() {
  return rc::gen::map(rc::gen::tuple(one_of(kOd), one_of(kNsb), one_of(kNt),
                                     rc::gen::inRange<uint64_t>(1, 1 << 20)),
                      [](const auto& t) {
                        const auto& [od, nsb, nt, seed] = t;
                        return Case{Shape(od, nsb * kSuperBlockElems, nt), seed};
                      });
}

inline void showValue(const Case& c, std::ostream& os) {
  os << c.shape.text() << " seed=" << c.seed;
}

}  // namespace planegate::fuzz
