#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <planegate/simt/shadow.h>

namespace planegate::simt {
namespace {

constexpr int kThreads = 96;
constexpr size_t kWords = 6;

/// The memory model as it is defined, with every access since the last barrier of the block.
class EveryAccess {
 public:
  bool may_read(size_t word, int thread) const {
    if (async_[word] || !written_[word]) return false;
    return clean(word, thread, false);
  }
  bool may_write(size_t word, int thread) const {
    return !async_[word] && clean(word, thread, true);
  }
  void note(size_t word, int thread, bool write) {
    accesses_.push_back({word, thread, warp_epoch_[thread / kWarpLanes], write});
    written_[word] = written_[word] || write;
  }
  void async(size_t word, bool pending, int thread) {
    async_[word] = pending;
    if (!pending) note(word, thread, true);
  }
  void block_barrier() { accesses_.clear(); }
  void warp_barrier(int warp) { ++warp_epoch_[warp]; }

 private:
  struct Access {
    size_t word;
    int thread;
    int64_t warp_epoch;
    bool write;
  };

  /// Reads conflict with writes, writes with both.
  bool clean(size_t word, int thread, bool write) const {
    const int warp = thread / kWarpLanes;
    for (const Access& other : accesses_) {
      if (other.word != word || other.thread == thread || !(write || other.write)) continue;
      if (other.thread / kWarpLanes != warp || other.warp_epoch == warp_epoch_[warp]) return false;
    }
    return true;
  }

  std::vector<Access> accesses_;
  int64_t warp_epoch_[kThreads / kWarpLanes] = {};
  bool async_[kWords] = {};
  bool written_[kWords] = {};
};

struct Random {
  std::mt19937_64 engine{20261201};
  int below(int n) { return static_cast<int>(engine() % static_cast<uint64_t>(n)); }
};

/// One access by a random lane; false when shadow and definition disagree.
bool touch(SharedShadow& shadow, EveryAccess& model, Random& random, int64_t (&legal)[2]) {
  const auto word = static_cast<size_t>(random.below(kWords));
  // Few lanes, so that they meet.
  const int thread = random.below(3) * kWarpLanes + random.below(2);
  const bool write = random.below(3) == 0;
  const bool expected = write ? model.may_write(word, thread) : model.may_read(word, thread);
  const bool allowed =
      write ? shadow.write(word, 1, thread) == nullptr : shadow.read(word, 1, thread) == nullptr;
  if (allowed != expected) return false;
  ++legal[allowed];
  if (!allowed) return true;
  model.note(word, thread, write);
  if (write && random.below(8) == 0) {
    shadow.async_begun(word, 1);
    model.async(word, true, thread);
    EXPECT_NE(shadow.read(word, 1, thread), nullptr);
    EXPECT_NE(shadow.write(word, 1, thread), nullptr);
    shadow.async_done(word, 1);
    model.async(word, false, thread);
  }
  return true;
}

/// Barriers of warps and, one in `block_every`, of the block, until the ticks ran out three times.
void expect_the_definition(int block_every) {
  SharedShadow shadow;
  shadow.reset(kWords, kThreads);
  EveryAccess model;
  Random random;
  int64_t legal[2] = {};
  for (int barrier = 0; barrier < 3 * 65536; ++barrier) {
    for (int i = random.below(4); i > 0; --i) {
      ASSERT_TRUE(touch(shadow, model, random, legal)) << "at barrier " << barrier;
    }
    if (random.below(block_every) == 0) {
      shadow.block_barrier();
      model.block_barrier();
    } else {
      const int warp = random.below(kThreads / kWarpLanes);
      shadow.warp_barrier(warp);
      model.warp_barrier(warp);
    }
  }
  EXPECT_GT(legal[0], 1000);
  EXPECT_GT(legal[1], 1000);
}

TEST(SharedShadow, JudgesEveryAccessAsTheDefinitionDoes) {
  expect_the_definition(4);
}

TEST(SharedShadow, KeepsItsJudgementWhenTicksRunOutBetweenBarriersOfTheBlock) {
  expect_the_definition(300);
}

TEST(SharedShadow, KnowsABarrierOfTheWarpFromBeforeTheTicksRanOut) {
  SharedShadow shadow;
  shadow.reset(2, 2 * kWarpLanes);
  EXPECT_EQ(shadow.write(0, 1, 0), nullptr);
  shadow.warp_barrier(0);
  EXPECT_EQ(shadow.write(1, 1, 0), nullptr);
  for (int i = 0; i < 70000; ++i) shadow.warp_barrier(1);
  EXPECT_EQ(shadow.read(0, 1, 1), nullptr);
  EXPECT_NE(shadow.read(1, 1, 1), nullptr);
  EXPECT_NE(shadow.read(0, 1, kWarpLanes), nullptr);
}

}  // namespace
}  // namespace planegate::simt
