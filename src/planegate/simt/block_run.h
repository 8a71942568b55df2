#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <planegate/devices/host_device.h>
#include <planegate/simt/abi.h>
#include <planegate/simt/fault.h>
#include <planegate/simt/fiber.h>

/// The host executor's state of one block. Kernels never see it: the dialect's operations do.
namespace planegate::simt {

/// Bytes that a kernel's global pointer may touch.
struct Region {
  std::byte* begin = nullptr;
  int64_t size_bytes = 0;
  std::string name;
};

/// A source line, for messages.
struct Site {
  const char* file = "";
  int line = 0;

  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  friend bool operator==(const Site&, const Site&) = default;
};

/// What a lane waits for.
enum class Wait : uint8_t { kNothing, kWarp, kBlock, kForever };
/// Operations in which all lanes of a warp take part.
enum class Collective : uint8_t { kSyncWarp, kShuffle, kLdmatrix, kMmaS8 };

const char* text(Collective kind);

/// What a lane brings to a collective and takes from it: up to seven words.
struct Operands {
  uint32_t word[7] = {};
};

/// Who touched a 4-byte word of shared memory last, and when. Ticks count barriers of any kind.
struct ShadowWord {
  static constexpr uint16_t kNobody = 0xFFFF;
  static constexpr uint16_t kManyWarps = 0xFFFE;
  static constexpr uint16_t kManyOfWarp = 0x8000;  ///< plus the warp's number

  uint32_t write_tick = 0;
  uint32_t read_tick = 0;
  uint16_t writer = kNobody;
  uint16_t reader = kNobody;
  bool pending = false;  ///< cp.async destination that has not been waited for
};

/// Everything that a launch tells the executor.
struct BlockPlan {
  int threads = kWarpLanes;
  int64_t shared_bytes = 0;
  Grid grid;
  Schedule schedule;
  void (*body)(const void* context) = nullptr;
  const void* context = nullptr;
};

/// One block: its lanes (fibers on pooled stacks), shared memory and shadow, one thread of the
/// host. Errors leave a lane as exception_ptr; a failed block's lanes are abandoned where they
/// stand (kernels own no resources).
class BlockRun {
 public:
  /// Runs block `block` to its end. @throws SimtFault, or what the kernel threw.
  void run(const BlockPlan& plan, int64_t block);

  int thread() const { return current_; }
  int64_t block() const { return block_; }
  const Grid& grid() const { return plan_->grid; }
  std::byte* shared() { return shared_.data(); }

  /// Suspends the lane until all threads of the block stand at the same barrier.
  void sync_threads(Site site);
  /// Suspends the lane until all lanes of its warp brought operands to the same operation.
  Operands& collective(Collective kind, const Operands& operands, Site site);

  void check_shared_read(const std::byte* at, int bytes);
  void check_shared_write(const std::byte* at, int bytes);
  void check_global(const Region& region, const std::byte* at, int bytes, int alignment_bytes,
                    const char* verb);

  /// cp.async: the words belong to the lane until it has waited for the group.
  void async_issued(const std::byte* destination, int bytes);
  void async_committed() { ++lanes_[current_].committed; }
  void async_waited(int groups_left);

 private:
  friend void enter_lane(boost::context::detail::transfer_t arrival);
  struct Pending {
    uint32_t word = 0;
    uint32_t words = 0;
    uint32_t group = 0;
  };
  struct Lane {
    void* fiber = nullptr;
    Wait wait = Wait::kNothing;
    Collective kind = Collective::kSyncWarp;
    Site site;
    uint32_t committed = 0;  ///< cp.async groups committed so far
    std::vector<Pending> pending;
  };

  void prepare(const BlockPlan& plan, int64_t block);
  void order_lanes();
  void run_warp(int warp);
  bool release_block();
  void*& fiber_of(int thread);
  void switch_to(int next);
  int next_ready(int warp, int place) const;
  void yield();
  void complete_collective(int warp);
  void perform(Collective kind, int warp);
  [[noreturn]] void run_lane();
  [[noreturn]] void fail(FaultKind kind, const std::string& what) const;
  [[noreturn]] void report_divergence(int first, int last, FaultKind kind) const;
  void check_shared_range(const std::byte* at, int bytes, const char* verb) const;
  [[noreturn]] void report_global(const Region& region, int64_t offset, int bytes, bool inside,
                                  const char* verb) const;
  [[noreturn]] void report_read(const ShadowWord& word, size_t index) const;
  [[noreturn]] void report_write(const ShadowWord& word, size_t index) const;
  size_t shadow_index(const std::byte* at) const {
    return static_cast<size_t>(at - shared_.data()) / 4;
  }
  /// Whether something thread `other` did at `tick` is ordered before the running lane.
  bool ordered(uint16_t other, uint32_t tick) const {
    return tick < block_tick_ || (other / kWarpLanes == current_ / kWarpLanes &&
                                  tick < warp_tick_[current_ / kWarpLanes]);
  }

  FiberStacks stacks_;
  const void* scheduler_stack_ = nullptr;  ///< for AddressSanitizer
  size_t scheduler_stack_bytes_ = 0;
  const BlockPlan* plan_ = nullptr;
  int64_t block_ = 0;
  int current_ = 0;  ///< running thread; plan_->threads while the scheduler runs
  int from_ = 0;     ///< who switched last
  void* scheduler_ = nullptr;
  std::vector<Lane> lanes_;
  std::vector<Operands> operands_;
  std::vector<int> lane_order_;      ///< threads of each warp in running order
  std::vector<int> place_in_order_;  ///< inverse of lane_order_ within the block
  std::vector<int> warp_order_;
  std::vector<int> arrived_;  ///< lanes of each warp that wait for the collective
  std::vector<std::byte> shared_;
  std::vector<ShadowWord> shadow_;
  uint32_t tick_ = 1;
  uint32_t block_tick_ = 1;
  std::vector<uint32_t> warp_tick_;
  std::exception_ptr error_;
};

/// The block that the calling host thread is running; null outside a kernel.
extern constinit thread_local BlockRun* running_block;

/// Runs every block of the grid, blocks spread over the host's cores.
/// @throws the error of the first failing block in block order.
void run_grid(const BlockPlan& plan);

inline void BlockRun::check_shared_read(const std::byte* at, int bytes) {
  check_shared_range(at, bytes, "reads");
  const auto me = static_cast<uint16_t>(current_);
  ShadowWord* word = &shadow_[shadow_index(at)];
  for (int i = 0; i < (bytes + 3) / 4; ++i, ++word) {
    const bool mine = word->writer == me;
    if (word->pending || word->writer == ShadowWord::kNobody ||
        (!mine && !ordered(word->writer, word->write_tick))) {
      report_read(*word, static_cast<size_t>(word - shadow_.data()));
    }
    if (word->read_tick >= block_tick_ && word->reader != me) {
      const int warp = current_ / kWarpLanes;
      const auto many = static_cast<uint16_t>(ShadowWord::kManyOfWarp + warp);
      const bool my_warp = word->reader / kWarpLanes == warp || word->reader == many;
      if (!my_warp) {
        word->reader = ShadowWord::kManyWarps;
      } else if (word->read_tick >= warp_tick_[static_cast<size_t>(warp)]) {
        word->reader = many;
      } else {
        word->reader = me;
      }
    } else {
      word->reader = me;
    }
    word->read_tick = tick_;
  }
}

inline void BlockRun::check_shared_write(const std::byte* at, int bytes) {
  check_shared_range(at, bytes, "writes");
  const auto me = static_cast<uint16_t>(current_);
  const int warp = current_ / kWarpLanes;
  ShadowWord* word = &shadow_[shadow_index(at)];
  for (int i = 0; i < bytes / 4; ++i, ++word) {
    bool clean = !word->pending;
    if (word->writer != me && word->writer != ShadowWord::kNobody) {
      clean = clean && ordered(word->writer, word->write_tick);
    }
    if (word->read_tick >= block_tick_ && word->reader != me) {
      const bool my_warp =
          word->reader / kWarpLanes == warp || word->reader == ShadowWord::kManyOfWarp + warp;
      clean = clean && my_warp && word->read_tick < warp_tick_[static_cast<size_t>(warp)];
    }
    if (!clean) report_write(*word, static_cast<size_t>(word - shadow_.data()));
    word->writer = me;
    word->write_tick = tick_;
  }
}

inline void BlockRun::check_global(const Region& region, const std::byte* at, int bytes,
                                   int alignment_bytes, const char* verb) {
  const int64_t offset = at - region.begin;
  const bool inside = offset >= 0 && offset + bytes <= region.size_bytes;
  if (!inside || offset % alignment_bytes != 0) {
    report_global(region, offset, bytes, inside, verb);
  }
}

}  // namespace planegate::simt
