#include <algorithm>

#include <fmt/format.h>

#include <planegate/simt/block_run.h>
#include <planegate/simt/words.h>

/// mbarrier and cp.async.bulk: copies that a barrier's phase waits for.
namespace planegate::simt {

void BlockRun::barrier_initialised(std::byte* at, int arrivals) {
  check_shared_write(at, sizeof(Barrier));
  std::memset(at, 0, sizeof(Barrier));
  const auto count = static_cast<uint32_t>(arrivals);
  const int64_t offset = at - shared_.data();
  const bool known = std::any_of(barriers_.begin(), barriers_.end(),
                                 [&](const PhaseBarrier& one) { return one.offset == offset; });
  if (known)
    fail(FaultKind::kRace, fmt::format("initialises the barrier at shared byte {} again", offset));
  if (barriers_.size() == SharedShadow::kMostBarriers) {
    fail(FaultKind::kOutOfBounds,
         fmt::format("initialises more than {} barriers", SharedShadow::kMostBarriers));
  }
  barriers_.push_back({.offset = offset, .arrivals = count, .missing = count});
}

BlockRun::PhaseBarrier& BlockRun::barrier_at(const std::byte* at) {
  check_shared_read(at, sizeof(Barrier));
  const int64_t offset = at - shared_.data();
  const auto found = std::find_if(barriers_.begin(), barriers_.end(),
                                  [&](const PhaseBarrier& one) { return one.offset == offset; });
  if (found == barriers_.end()) {
    fail(FaultKind::kUninitialisedShared,
         fmt::format("uses shared byte {} as a barrier, which it was not made", offset));
  }
  return *found;
}

void BlockRun::complete_phase(PhaseBarrier& barrier) {
  if (barrier.missing > 0 || barrier.bytes != 0) return;
  ++barrier.completed;
  barrier.missing = barrier.arrivals;
  phase_completed_ = true;
}

void BlockRun::barrier_arrived(const std::byte* at, int bytes_expected) {
  PhaseBarrier& barrier = barrier_at(at);
  --barrier.missing;
  barrier.bytes += bytes_expected;
  complete_phase(barrier);
}

bool BlockRun::phase_passed(const std::byte* at, int parity) {
  PhaseBarrier& barrier = barrier_at(at);
  if (static_cast<int>(barrier.completed % 2) == parity) return false;
  barrier.known = barrier.completed;
  shadow_.phases_passed(static_cast<int>(&barrier - barriers_.data()), barrier.completed, thread());
  return true;
}

void BlockRun::bulk_issued(std::byte* to, const Region& region, const std::byte* from, int bytes,
                           const std::byte* at) {
  PhaseBarrier& barrier = barrier_at(at);
  if (shadow_.not_fenced(shadow_index(at), sizeof(Barrier) / 4) != nullptr) {
    fail(FaultKind::kNotFenced,
         fmt::format("copies to the barrier at shared byte {}, which was initialised with no "
                     "fence_async since",
                     barrier.offset));
  }
  check_global(region, from, bytes, 16, "copies");
  const int64_t offset = to - shared_.data();
  const bool inside = offset >= 0 && offset + bytes <= plan_->shared_bytes;
  if (!inside || offset % 16 != 0 || bytes % 16 != 0) {
    report_shared(offset, bytes, inside, "copies to");
  }
  const size_t first = shadow_index(to);
  const auto words = static_cast<size_t>(bytes) / 4;
  if (const ShadowWord* bad = shadow_.write(first, bytes / 4, thread())) report_write(*bad);
  shadow_.bulk_begun(first, words, static_cast<int>(&barrier - barriers_.data()),
                     barrier.completed + 1);
  std::memcpy(to, from, static_cast<size_t>(bytes));
  barrier.copied_for = barrier.completed + 1;
  barrier.bytes -= bytes;
  complete_phase(barrier);
}

/// Lanes that wait for a phase look again where one was completed; false where none was.
bool BlockRun::wake_for_phases() {
  if (!phase_completed_) return false;
  phase_completed_ = false;
  bool woken = false;
  for (Lane& lane : lanes_) {
    if (lane.wait != Wait::kPhase) continue;
    lane.wait = Wait::kNothing;
    woken = true;
  }
  return woken;
}

/// A copy that outlives its block writes into another's shared memory.
void BlockRun::check_copies_arrived() const {
  for (const PhaseBarrier& barrier : barriers_) {
    if (barrier.copied_for <= barrier.known) continue;
    throw SimtFault(
        FaultKind::kAsyncNotWaited,
        fmt::format("block ({}, {}) ends with bulk copies in flight that the barrier at "
                    "shared byte {} counts",
                    block_ % plan_->grid.x, block_ / plan_->grid.x, barrier.offset));
  }
}

}  // namespace planegate::simt
