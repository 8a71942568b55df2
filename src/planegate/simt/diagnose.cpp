#include <map>

#include <fmt/format.h>

#include <planegate/simt/block_run.h>

/// The words of the host executor's faults.
namespace planegate::simt {
namespace {

constexpr const char* kOfBulkCopy =
    ", the destination of a bulk copy whose phase this thread does not know complete";

std::string lane_text(int thread) {
  return fmt::format("thread {} (warp {}, lane {})", thread, thread / kWarpLanes,
                     thread % kWarpLanes);
}

std::string reader_text(uint16_t reader) {
  if (reader == ShadowWord::kManyWarps) return "threads of several warps";
  if (reader >= ShadowWord::kManyOfWarp) {
    return fmt::format("several lanes of warp {}", reader - ShadowWord::kManyOfWarp);
  }
  return fmt::format("thread {}", reader);
}

/// `0-15, 17, 20-31`
std::string ranges(const std::vector<int>& threads) {
  std::string out;
  for (size_t i = 0; i < threads.size();) {
    size_t end = i + 1;
    while (end < threads.size() && threads[end] == threads[end - 1] + 1) ++end;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", threads[i]);
    if (end - i > 1) out += fmt::format("-{}", threads[end - 1]);
    i = end;
  }
  return out;
}

std::string place(Site site) {
  const std::string file = site.file;
  return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1), site.line);
}

}  // namespace

const char* text(FaultKind kind) {
  switch (kind) {
    case FaultKind::kRace:
      return "race on shared memory";
    case FaultKind::kUninitialisedShared:
      return "uninitialised shared memory";
    case FaultKind::kAsyncNotWaited:
      return "copy not waited for";
    case FaultKind::kNotFenced:
      return "not fenced";
    case FaultKind::kWgmmaNotWaited:
      return "wgmma not waited for";
    case FaultKind::kEndlessWait:
      return "wait without end";
    case FaultKind::kDivergentBarrier:
      return "divergent barrier";
    case FaultKind::kDivergentCollective:
      return "divergent warp operation";
    case FaultKind::kMisaligned:
      return "misaligned access";
    case FaultKind::kOutOfBounds:
      return "access out of bounds";
  }
  return "fault";
}

const char* text(Collective kind) {
  switch (kind) {
    case Collective::kSyncWarp:
      return "sync_warp";
    case Collective::kShuffle:
      return "shuffle";
    case Collective::kLdmatrix:
      return "ldmatrix";
    case Collective::kMmaS8:
      return "mma";
    case Collective::kWgmmaWait:
      return "wgmma_wait";
  }
  return "collective";
}

void BlockRun::fail(FaultKind kind, const std::string& what) const {
  throw SimtFault(kind, fmt::format("block ({}, {}), {} {}", block_ % plan_->grid.x,
                                    block_ / plan_->grid.x, lane_text(thread()), what));
}

void BlockRun::report_global(const Region& region, int64_t offset, int bytes, bool inside,
                             const char* verb) const {
  fail(inside ? FaultKind::kMisaligned : FaultKind::kOutOfBounds,
       fmt::format("{} {} bytes at byte {} of {} ({} bytes)", verb, bytes, offset, region.name,
                   region.size_bytes));
}

void BlockRun::report_shared(int64_t offset, int bytes, bool inside, const char* verb) const {
  fail(inside ? FaultKind::kMisaligned : FaultKind::kOutOfBounds,
       fmt::format("{} {} bytes at byte {} of shared memory ({} bytes)", verb, bytes, offset,
                   plan_->shared_bytes));
}

void BlockRun::report_read(const ShadowWord& word) const {
  const std::string what = fmt::format("reads shared byte {}", shadow_.index(word) * 4);
  if (word.bulk()) fail(FaultKind::kAsyncNotWaited, what + kOfBulkCopy);
  if (word.pending()) {
    fail(FaultKind::kAsyncNotWaited, fmt::format("{}, the destination of a cp.async of thread {}",
                                                 what, word.writing_thread()));
  }
  if (word.writer == ShadowWord::kNobody) {
    fail(FaultKind::kUninitialisedShared, what + ", which nothing wrote in this block");
  }
  fail(FaultKind::kRace,
       fmt::format("{}, which thread {} wrote with no barrier between", what, word.writer));
}

void BlockRun::report_write(const ShadowWord& word) const {
  const std::string what = fmt::format("writes shared byte {}", shadow_.index(word) * 4);
  if (word.bulk() && !shadow_.bulk_arrived(word, thread())) {
    fail(FaultKind::kAsyncNotWaited, what + kOfBulkCopy);
  }
  if (word.pending()) {
    fail(FaultKind::kAsyncNotWaited, fmt::format("{}, the destination of a cp.async of thread {}",
                                                 what, word.writing_thread()));
  }
  const bool by_writer = !word.bulk() && word.writer != ShadowWord::kNobody &&
                         word.writer != thread() &&
                         !shadow_.ordered(word.writer, word.write_tick, thread());
  const std::string who =
      by_writer ? fmt::format("thread {} wrote", word.writer) : reader_text(word.reader) + " read";
  fail(FaultKind::kRace, fmt::format("{}, which {} with no barrier between", what, who));
}

void BlockRun::report_divergence(int first, int last, FaultKind kind) const {
  std::map<std::string, std::vector<int>> groups;
  for (int thread = first; thread < last; ++thread) {
    const Lane& lane = lanes_[static_cast<size_t>(thread)];
    switch (lane.wait) {
      case Wait::kNothing:
        groups["are running"].push_back(thread);
        break;
      case Wait::kForever:
        groups["have returned"].push_back(thread);
        break;
      case Wait::kBlock:
        groups["wait at the barrier at " + place(lane.site)].push_back(thread);
        break;
      case Wait::kPhase:
        groups["wait for a phase at " + place(lane.site)].push_back(thread);
        break;
      case Wait::kWarp:
        groups[fmt::format("wait at {} at {}", text(lane.kind), place(lane.site))].push_back(
            thread);
        break;
    }
  }
  std::string what = fmt::format("block ({}, {}):", block_ % plan_->grid.x, block_ / plan_->grid.x);
  for (const auto& [where, threads] : groups) {
    what += fmt::format("{} threads {} {}", what.back() == ':' ? "" : ";", ranges(threads), where);
  }
  throw SimtFault(kind, what);
}

}  // namespace planegate::simt
