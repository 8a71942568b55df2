#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <planegate/simt/abi.h>

namespace planegate::simt {

/// Who touched a 4-byte word of shared memory last, and when.
struct ShadowWord {
  static constexpr uint16_t kNobody = 0xFFFF;
  static constexpr uint16_t kManyWarps = 0xFFFE;
  static constexpr uint16_t kManyOfWarp = 0x8000;  ///< plus the warp's number
  static constexpr uint16_t kPending = 0x4000;     ///< writer's flag: a copy not waited for
  static constexpr uint16_t kBulk = 0x8000;        ///< writer's flag: a bulk copy, not a thread
  static constexpr uint16_t kNever = 0xFFFF;       ///< write tick of what no lane may read

  uint16_t write_tick = kNever;
  uint16_t writer = kNobody;
  uint16_t read_tick = 0;
  uint16_t reader = kNobody;

  bool bulk() const { return writer != kNobody && (writer & kBulk) != 0; }
  bool pending() const { return writer < kBulk && (writer & kPending) != 0; }
  uint16_t writing_thread() const { return writer & static_cast<uint16_t>(~kPending); }
  bool read_is(uint16_t tick, uint16_t by) const { return read_tick == tick && reader == by; }
};

/// The memory model of a block's shared memory, word by word.
///
/// Ticks count barriers of any kind. Only three ages matter, before the last barrier of the block,
/// before the last barrier of the toucher's warp, since then: when the ticks run out they are
/// renumbered by age. What bulk copies write is ordered by the phases of their barriers instead.
class SharedShadow {
 public:
  /// Nothing written, nothing read.
  void reset(size_t words, size_t threads);
  void block_barrier();
  void warp_barrier(int warp);

  /// The first of `words` words from `first` on that `thread` may not read, or null; marks them.
  const ShadowWord* read(size_t first, int words, int thread) {
    ShadowWord* word = &words_[first];
    const auto me = static_cast<uint16_t>(thread);
    const auto many = static_cast<uint16_t>(ShadowWord::kManyOfWarp + thread / kWarpLanes);
    for (const ShadowWord* end = word + words; word != end; ++word) {
      if (word->write_tick >= block_tick_ && !may_read(*word, thread)) return word;
      if (word->read_is(tick_, ShadowWord::kManyWarps) || word->read_is(tick_, many)) continue;
      if (word->read_tick >= block_tick_ && word->reader != me) {
        mark_shared_read(*word, thread);
      } else {
        word->reader = me;
      }
      word->read_tick = tick_;
    }
    return nullptr;
  }

  /// Likewise for writes.
  const ShadowWord* write(size_t first, int words, int thread) {
    ShadowWord* word = &words_[first];
    for (const ShadowWord* end = word + words; word != end; ++word) {
      const bool old = word->write_tick < block_tick_ && word->read_tick < block_tick_;
      if (!old && !may_write(*word, thread)) return word;
      word->writer = static_cast<uint16_t>(thread);
      word->write_tick = tick_;
    }
    return nullptr;
  }

  /// The words belong to their writer until async_done().
  void async_begun(size_t first, size_t words) {
    for (size_t i = first; i < first + words; ++i) {
      words_[i].writer |= ShadowWord::kPending;
      words_[i].write_tick = ShadowWord::kNever;
    }
  }
  void async_done(size_t first, size_t words) {
    for (size_t i = first; i < first + words; ++i) {
      words_[i].writer = words_[i].writing_thread();
      words_[i].write_tick = tick_;
    }
  }

  /// A bulk copy writes the words: they may be touched by who knows `phases` phases of the barrier
  /// complete. Barriers are numbered below kMostBarriers.
  void bulk_begun(size_t first, size_t words, int barrier, uint32_t phases);
  /// `thread` knows that many phases complete.
  void phases_passed(int barrier, uint32_t phases, int thread);
  static constexpr int kMostBarriers = 63;
  /// Whether `thread` may touch what a bulk copy wrote: it knows, or is ordered behind who does.
  bool bulk_arrived(const ShadowWord& word, int thread) const;

  /// What `thread` wrote so far is seen by asynchronous reads once they are ordered behind it.
  void fence_async(int thread) { fence_tick_[static_cast<size_t>(thread)] = tick_; }
  /// The first of the words whose writer did not fence since, or null. @pre each was written
  const ShadowWord* not_fenced(size_t first, size_t words) const {
    for (size_t i = first; i < first + words; ++i) {
      if (words_[i].bulk()) continue;
      if (words_[i].write_tick > fence_tick_[words_[i].writing_thread()]) return &words_[i];
    }
    return nullptr;
  }

  size_t index(const ShadowWord& word) const { return static_cast<size_t>(&word - words_.data()); }
  /// Whether something thread `other` did at `tick` is ordered before what `thread` does now.
  bool ordered(uint16_t other, uint16_t tick, int thread) const {
    const int warp = thread / kWarpLanes;
    return tick < block_tick_ ||
           (other / kWarpLanes == warp && tick < warp_tick_[static_cast<size_t>(warp)]);
  }

 private:
  /// Who knows how many phases of a barrier complete.
  struct Phases {
    std::vector<uint32_t> of_thread;
    uint32_t most = 0;
    uint16_t first_thread = 0;  ///< that knew `most`
    uint16_t first_tick = 0;
  };

  bool may_read(const ShadowWord& word, int thread) const;
  bool may_write(const ShadowWord& word, int thread) const;
  void mark_shared_read(ShadowWord& word, int thread) const;
  void advance();
  uint16_t age(uint16_t tick, uint16_t toucher) const;

  std::vector<ShadowWord> words_;
  std::vector<uint16_t> warp_tick_;
  std::vector<uint16_t> fence_tick_;  ///< of each thread's last fence_async(); 0: none
  std::vector<Phases> phases_;        ///< of each barrier
  uint16_t tick_ = 1;
  uint16_t block_tick_ = 1;
};

}  // namespace planegate::simt
