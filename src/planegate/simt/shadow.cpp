#include <algorithm>

#include <planegate/simt/shadow.h>

namespace planegate::simt {
namespace {

constexpr uint16_t kLastTick = ShadowWord::kNever - 1;
constexpr uint16_t kBeforeBlockBarrier = 0;
constexpr uint16_t kBeforeWarpBarrier = 1;
constexpr uint16_t kSinceBarriers = 2;

/// A bulk copy as writer: its barrier, and the phases that must be complete, by their last bits.
constexpr int kPhaseBits = 9;
constexpr uint32_t kPhaseMask = (1u << kPhaseBits) - 1;

}  // namespace

void SharedShadow::reset(size_t words, size_t threads) {
  words_.assign(words, ShadowWord{});
  warp_tick_.assign(threads / kWarpLanes, 1);
  fence_tick_.assign(threads, 0);
  phases_.clear();
  tick_ = 1;
  block_tick_ = 1;
}

void SharedShadow::bulk_begun(size_t first, size_t words, int barrier, uint32_t phases) {
  const auto writer = static_cast<uint16_t>(
      ShadowWord::kBulk | static_cast<uint32_t>(barrier) << kPhaseBits | (phases & kPhaseMask));
  for (size_t i = first; i < first + words; ++i) {
    words_[i].writer = writer;
    words_[i].write_tick = ShadowWord::kNever;
  }
}

void SharedShadow::phases_passed(int barrier, uint32_t count, int thread) {
  phases_.resize(std::max(phases_.size(), static_cast<size_t>(barrier) + 1));
  Phases& phases = phases_[static_cast<size_t>(barrier)];
  phases.of_thread.resize(fence_tick_.size());
  phases.of_thread[static_cast<size_t>(thread)] = count;
  if (count <= phases.most) return;
  phases.most = count;
  phases.first_thread = static_cast<uint16_t>(thread);
  phases.first_tick = tick_;
}

bool SharedShadow::bulk_arrived(const ShadowWord& word, int thread) const {
  const size_t barrier = static_cast<size_t>(word.writer & ~ShadowWord::kBulk) >> kPhaseBits;
  if (barrier >= phases_.size()) return false;
  const Phases& phases = phases_[barrier];
  const auto complete = [&](uint32_t known) {
    return ((known - word.writer) & kPhaseMask) <= kPhaseMask / 2;
  };
  return complete(phases.of_thread[static_cast<size_t>(thread)]) ||
         (complete(phases.most) && ordered(phases.first_thread, phases.first_tick, thread));
}

bool SharedShadow::may_read(const ShadowWord& word, int thread) const {
  if (word.bulk()) return bulk_arrived(word, thread);
  if (word.writer == ShadowWord::kNobody || word.pending()) return false;
  return word.writer == thread || ordered(word.writer, word.write_tick, thread);
}

bool SharedShadow::may_write(const ShadowWord& word, int thread) const {
  if (word.pending()) return false;
  if (word.bulk() && !bulk_arrived(word, thread)) return false;
  if (!word.bulk() && word.writer != thread && word.writer != ShadowWord::kNobody &&
      !ordered(word.writer, word.write_tick, thread)) {
    return false;
  }
  if (word.read_tick < block_tick_ || word.reader == thread) return true;
  const int warp = thread / kWarpLanes;
  const bool my_warp =
      word.reader / kWarpLanes == warp || word.reader == ShadowWord::kManyOfWarp + warp;
  return my_warp && word.read_tick < warp_tick_[static_cast<size_t>(warp)];
}

void SharedShadow::mark_shared_read(ShadowWord& word, int thread) const {
  const int warp = thread / kWarpLanes;
  const auto many = static_cast<uint16_t>(ShadowWord::kManyOfWarp + warp);
  const bool my_warp = word.reader / kWarpLanes == warp || word.reader == many;
  if (!my_warp) {
    word.reader = ShadowWord::kManyWarps;
  } else if (word.read_tick >= warp_tick_[static_cast<size_t>(warp)]) {
    word.reader = many;
  } else {
    word.reader = static_cast<uint16_t>(thread);
  }
}

void SharedShadow::block_barrier() {
  advance();
  block_tick_ = tick_;
}

void SharedShadow::warp_barrier(int warp) {
  advance();
  warp_tick_[static_cast<size_t>(warp)] = tick_;
}

uint16_t SharedShadow::age(uint16_t tick, uint16_t toucher) const {
  if (tick < block_tick_) return kBeforeBlockBarrier;
  if (toucher == ShadowWord::kManyWarps) return kSinceBarriers;
  const bool many = toucher >= ShadowWord::kManyOfWarp;
  const int warp = many ? toucher - ShadowWord::kManyOfWarp : toucher / kWarpLanes;
  return tick < warp_tick_[static_cast<size_t>(warp)] ? kBeforeWarpBarrier : kSinceBarriers;
}

void SharedShadow::advance() {
  if (tick_ == kLastTick) {
    for (ShadowWord& word : words_) {
      if (word.write_tick != ShadowWord::kNever) {
        word.write_tick = age(word.write_tick, word.writer);
      }
      word.read_tick = age(word.read_tick, word.reader);
    }
    for (size_t thread = 0; thread < fence_tick_.size(); ++thread) {
      uint16_t& fence = fence_tick_[thread];
      if (fence != 0) fence = age(fence, static_cast<uint16_t>(thread));
    }
    for (Phases& phases : phases_) phases.first_tick = age(phases.first_tick, phases.first_thread);
    std::fill(warp_tick_.begin(), warp_tick_.end(), kSinceBarriers);
    block_tick_ = kBeforeWarpBarrier;
    tick_ = kSinceBarriers;
  }
  ++tick_;
}

}  // namespace planegate::simt
