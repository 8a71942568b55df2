#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>

#include <omp.h>

namespace planegate::oracle {

/// Calls body(first, last) for ranges that partition [0, count), on all cores.
///
/// A range is at most `grain` long, so that its body can walk with running pointers of its own.
/// @throws what the lowest range threw, after all ranges have ended: the same on any core count.
template <class Body>
void for_ranges(int64_t count, int64_t grain, const Body& body) {
  const int64_t ranges = count / grain + (count % grain != 0);
  std::exception_ptr fault;
  int64_t fault_range = ranges;
#pragma omp parallel for schedule(dynamic) if (ranges > 1)
  for (int64_t range = 0; range < ranges; ++range) {
    try {
      body(range * grain, std::min(count, (range + 1) * grain));
    } catch (...) {
#pragma omp critical(planegate_oracle_fault)
      if (range < fault_range) {
        fault = std::current_exception();
        fault_range = range;
      }
    }
  }
  if (fault) std::rethrow_exception(fault);
}

/// A grain that gives every core several ranges of `count` items of `item_bytes` each, and none
/// below the size at which starting a range costs more than its work.
inline int64_t grain_of(int64_t count, int64_t item_bytes) {
  constexpr int64_t kLeastBytes = 64 * 1024;
  const int64_t shared = count / (4 * int64_t{omp_get_max_threads()});
  return std::max({int64_t{1}, shared, kLeastBytes / std::max<int64_t>(item_bytes, 1)});
}

}  // namespace planegate::oracle
