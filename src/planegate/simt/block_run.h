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
#include <planegate/simt/shadow.h>

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
enum class Wait : uint8_t { kNothing, kWarp, kPhase, kBlock, kForever };
/// Operations in which all lanes of a warp take part.
enum class Collective : uint8_t { kSyncWarp, kShuffle, kLdmatrix, kMmaS8, kWgmmaWait };

const char* text(Collective kind);

/// Everything that a launch tells the executor.
struct BlockPlan {
  int threads = kWarpLanes;
  int64_t shared_bytes = 0;
  Grid grid;
  Schedule schedule;
  void (*body)(const void* context) = nullptr;
  const void* context = nullptr;
};

/// What the lanes of a warp bring to a collective and take from it: up to seven words each.
struct alignas(64) WarpOperands {
  uint32_t word[7][kWarpLanes];
  int arrived;  ///< lanes that wait for the collective
};

/// One lane's part of a wgmma m64nNk16: rows of `a` as for mma m16n8k16, `tile` in shared memory.
struct WgmmaOperands {
  float* sum = nullptr;  ///< columns / 2 of the lane's own
  int columns = 0;       ///< N, rows of the tile
  uint32_t a[4] = {};
  const std::byte* tile = nullptr;
  int k = 0;  ///< which 16 of the tile's 64
  bool add = false;
};

/// One lane of a block, a fiber on a pooled stack.
struct alignas(64) Lane {
  FiberContext context;
  Lane* next = nullptr;  ///< of its warp in running order, the last before the first
  WarpOperands* operands = nullptr;
  Site site;
  int thread = 0;
  Wait wait = Wait::kNothing;
  Collective kind = Collective::kSyncWarp;
};

/// One block: its lanes, shared memory and shadow, one thread of the host. Errors leave a lane as
/// exception_ptr; a failed block's lanes are abandoned where they stand (kernels own no
/// resources).
class BlockRun {
 public:
  /// Runs block `block` to its end. @throws SimtFault, or what the kernel threw.
  void run(const BlockPlan& plan, int64_t block);

  int thread() const { return running_->thread; }
  int64_t block() const { return block_; }
  const Grid& grid() const { return plan_->grid; }
  std::byte* shared() { return shared_.data(); }

  /// Suspends the lane until all threads of the block stand at the same barrier.
  [[gnu::always_inline]] void sync_threads(Site site) {
    running_->wait = Wait::kBlock;
    running_->site = site;
    yield();
  }
  /// The operands of the running lane's warp: the lane's own are its column.
  WarpOperands& operands() { return *running_->operands; }
  /// Suspends the lane until all lanes of its warp brought operands to the same operation, whose
  /// results then stand in their place.
  [[gnu::always_inline]] void collective(Collective kind, Site site) {
    running_->wait = Wait::kWarp;
    running_->kind = kind;
    running_->site = site;
    if (++running_->operands->arrived == kWarpLanes) complete_collective(thread() / kWarpLanes);
    yield();
  }

  void check_shared_read(const std::byte* at, int bytes);
  void check_shared_write(const std::byte* at, int bytes);
  void check_global(const Region& region, const std::byte* at, int bytes, int alignment_bytes,
                    const char* verb);

  /// cp.async: the words belong to the lane until it has waited for the group.
  void async_issued(const std::byte* destination, int bytes);
  void async_committed() { ++async_[static_cast<size_t>(thread())].committed; }
  void async_waited(int groups_left);

  /// mbarrier: phases of so many arrivals, and of the bytes that bulk copies were to bring.
  void barrier_initialised(std::byte* at, int arrivals);
  void barrier_arrived(const std::byte* at, int bytes_expected);
  [[gnu::always_inline]] void barrier_waited(const std::byte* at, int parity, Site site) {
    while (!phase_passed(at, parity)) {
      running_->wait = Wait::kPhase;
      running_->site = site;
      yield();
    }
  }
  /// The bytes arrive at once, but are nobody's before their phase is waited for.
  void bulk_issued(std::byte* to, const Region& region, const std::byte* from, int bytes,
                   const std::byte* barrier);

  void fence_async() { shadow_.fence_async(thread()); }
  void wgmma_fenced();
  void wgmma_released();
  /// Nothing is computed before it is waited for: sums are as they were until then, and the tile
  /// is read as late as the hardware may.
  void wgmma_issued(const WgmmaOperands& operands);
  void wgmma_committed();
  [[gnu::always_inline]] void wgmma_waited(int groups_left, Site site) {
    wgmma_[static_cast<size_t>(thread())].groups_left = static_cast<uint32_t>(groups_left);
    collective(Collective::kWgmmaWait, site);
  }

 private:
  friend void enter_lane();
  struct Pending {
    uint32_t word = 0;
    uint32_t words = 0;
    uint32_t group = 0;
  };
  struct AsyncCopies {
    uint32_t committed = 0;  ///< groups so far
    std::vector<Pending> pending;
  };

  struct PhaseBarrier {
    int64_t offset = 0;       ///< in shared memory
    uint32_t arrivals = 0;    ///< of a phase
    uint32_t missing = 0;     ///< of the phase that goes on
    int64_t bytes = 0;        ///< expected and not arrived
    uint32_t completed = 0;   ///< phases
    uint32_t copied_for = 0;  ///< phases that will be complete when all its copies are there
    uint32_t known = 0;       ///< phases that some thread knows complete
  };

  struct Wgmma {
    WgmmaOperands operands;
    uint32_t group = 0;
  };
  struct WgmmaQueue {
    uint32_t committed = 0;
    uint32_t groups_left = 0;
    uint32_t unreleased = 0;  ///< done, but their operands' registers are still theirs
    bool fenced = false;
    std::vector<Wgmma> pending;
  };

  void prepare(const BlockPlan& plan, int64_t block);
  void prepare_lanes();
  void order_lanes();
  void run_warp(int warp);
  bool release_block();
  bool wake_for_phases();
  PhaseBarrier& barrier_at(const std::byte* at);
  bool phase_passed(const std::byte* at, int parity);
  void complete_phase(PhaseBarrier& barrier);
  void check_copies_arrived() const;
  Lane* next_ready();
  void yield();
  void complete_collective(int warp);
  void perform(Collective kind, int warp);
  void perform_wgmma(int warp);
  /// A lane's body has returned.
  void wgmma_ended();
  void multiply_tile(int warp, size_t index);
  void check_tile(const WgmmaOperands& operands, int thread);
  [[noreturn]] void run_lane();
  [[noreturn]] void fail(FaultKind kind, const std::string& what) const;
  [[noreturn]] void report_divergence(int first, int last, FaultKind kind) const;
  [[noreturn]] void report_shared(int64_t offset, int bytes, bool inside, const char* verb) const;
  [[noreturn]] void report_global(const Region& region, int64_t offset, int bytes, bool inside,
                                  const char* verb) const;
  [[noreturn]] void report_read(const ShadowWord& word) const;
  [[noreturn]] void report_write(const ShadowWord& word) const;
  void check_shared_range(const std::byte* at, int bytes, const char* verb) const;
  size_t shadow_index(const std::byte* at) const {
    return static_cast<size_t>(at - shared_.data()) / 4;
  }

  FiberStacks stacks_;
  const BlockPlan* plan_ = nullptr;
  int64_t block_ = 0;
  Lane scheduler_;  ///< where run() stands; its thread is one past the block's last
  Lane* running_ = &scheduler_;
  std::vector<Lane> lanes_;
  std::vector<AsyncCopies> async_;  ///< of each lane
  std::vector<WgmmaQueue> wgmma_;   ///< of each lane
  std::vector<PhaseBarrier> barriers_;
  bool phase_completed_ = false;  ///< since lanes that wait for one were last woken
  std::vector<WarpOperands> operands_;
  std::vector<int> lane_order_;  ///< threads of each warp in running order
  std::vector<int> warp_order_;
  std::vector<std::byte> shared_;
  SharedShadow shadow_;
  std::exception_ptr error_;
};

/// The block that the calling host thread is running; null outside a kernel.
extern constinit thread_local BlockRun* running_block;

/// Runs every block of the grid, blocks spread over as many threads as OpenMP would take.
/// @throws the error of the first failing block in block order.
void run_grid(const BlockPlan& plan);

[[gnu::always_inline]] inline void BlockRun::yield() {
  Lane* next = running_->next;
  if (next->wait != Wait::kNothing) {
    next = next_ready();
    if (next == running_) return;
  }
  FiberContext& leave = running_->context;
  running_ = next;
  switch_fiber(leave, next->context);
}

inline void BlockRun::check_shared_range(const std::byte* at, int bytes, const char* verb) const {
  const int64_t offset = at - shared_.data();
  const bool inside = offset >= 0 && offset + bytes <= plan_->shared_bytes;
  // Widths are powers of two.
  if (!inside || (offset & (bytes - 1)) != 0) report_shared(offset, bytes, inside, verb);
}

inline void BlockRun::check_shared_read(const std::byte* at, int bytes) {
  check_shared_range(at, bytes, "reads");
  const ShadowWord* bad = shadow_.read(shadow_index(at), (bytes + 3) / 4, thread());
  if (bad != nullptr) report_read(*bad);
}

inline void BlockRun::check_shared_write(const std::byte* at, int bytes) {
  check_shared_range(at, bytes, "writes");
  const ShadowWord* bad = shadow_.write(shadow_index(at), bytes / 4, thread());
  if (bad != nullptr) report_write(*bad);
}

inline void BlockRun::check_global(const Region& region, const std::byte* at, int bytes,
                                   int alignment_bytes, const char* verb) {
  const int64_t offset = at - region.begin;
  const bool inside = offset >= 0 && offset + bytes <= region.size_bytes;
  if (!inside || (offset & (alignment_bytes - 1)) != 0) {
    report_global(region, offset, bytes, inside, verb);
  }
}

}  // namespace planegate::simt
