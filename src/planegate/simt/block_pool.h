#pragma once

#include <cstdint>
#include <functional>

namespace planegate::simt {

/// Calls work(0) .. work(count - 1), handed out in ascending order to the caller and up to
/// `threads` - 1 helpers, and returns when all have ended.
///
/// The caller waits for helpers that took work, never for helpers to wake up: on a busy machine it
/// does a small launch alone. (A team of OpenMP threads meets at a barrier, and spins there: one
/// time slice of the system for a launch that takes less than a millisecond.) With one call, one
/// thread, or while another caller has the helpers, everything runs on the caller.
/// @throws the error of the smallest failing index; larger ones are not begun once it is known.
void for_each_block(int64_t count, int threads, const std::function<void(int64_t)>& work);

}  // namespace planegate::simt
