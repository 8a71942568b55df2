#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <omp.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>
#include <planegate/simt/block_pool.h>
#include <planegate/simt/block_run.h>

namespace planegate::simt {

constinit thread_local BlockRun* running_block = nullptr;

namespace {

void arrange(std::vector<int>::iterator first, std::vector<int>::iterator last,
             Schedule::Order order, std::optional<std::mt19937_64>& engine) {
  if (order == Schedule::Order::kDescending) std::reverse(first, last);
  if (order == Schedule::Order::kRandom) std::shuffle(first, last, *engine);
}

}  // namespace

void enter_lane() {
  running_block->run_lane();
}

void BlockRun::run_lane() {
  try {
    plan_->body(plan_->context);
    wgmma_ended();
  } catch (...) {
    error_ = std::current_exception();
  }
  running_->wait = Wait::kForever;
  if (error_) running_->next = &scheduler_;
  yield();
  std::terminate();
}

/// The next lane of the running lane's warp that does not wait, itself the last; or the scheduler.
Lane* BlockRun::next_ready() {
  Lane* lane = running_->next;
  for (int step = 0; step < kWarpLanes; ++step, lane = lane->next) {
    if (lane->wait == Wait::kNothing) return lane;
  }
  return &scheduler_;
}

void BlockRun::complete_collective(int warp) {
  const auto first = static_cast<size_t>(warp) * kWarpLanes;
  const Lane& reference = lanes_[first];
  for (size_t i = first; i < first + kWarpLanes; ++i) {
    if (lanes_[i].kind != reference.kind || lanes_[i].site != reference.site) {
      report_divergence(warp * kWarpLanes, (warp + 1) * kWarpLanes,
                        FaultKind::kDivergentCollective);
    }
  }
  perform(reference.kind, warp);
  for (size_t i = first; i < first + kWarpLanes; ++i) lanes_[i].wait = Wait::kNothing;
  operands_[static_cast<size_t>(warp)].arrived = 0;
}

void BlockRun::async_issued(const std::byte* destination, int bytes) {
  check_shared_write(destination, bytes);
  const auto words = static_cast<uint32_t>(bytes) / 4;
  const size_t first = shadow_index(destination);
  shadow_.async_begun(first, words);
  AsyncCopies& copies = async_[static_cast<size_t>(thread())];
  copies.pending.push_back({static_cast<uint32_t>(first), words, copies.committed});
}

void BlockRun::async_waited(int groups_left) {
  auto& [committed, pending] = async_[static_cast<size_t>(thread())];
  auto keep = pending.begin();
  for (const Pending& copy : pending) {
    if (copy.group + static_cast<uint32_t>(groups_left) >= committed) {
      *keep++ = copy;
    } else {
      shadow_.async_done(copy.word, copy.words);
    }
  }
  pending.erase(keep, pending.end());
}

void BlockRun::prepare(const BlockPlan& plan, int64_t block) {
  plan_ = &plan;
  block_ = block;
  error_ = nullptr;
  const auto warps = static_cast<size_t>(plan.threads / kWarpLanes);
  const size_t words = (static_cast<size_t>(plan.shared_bytes) + 3) / 4;
  // 16-byte alignment comes with operator new; the poison is what no code or scale looks like.
  shared_.assign(words * 4, std::byte{0xDB});
  shadow_.reset(words, static_cast<size_t>(plan.threads));
  operands_.resize(warps);
  for (WarpOperands& operands : operands_) operands.arrived = 0;
  barriers_.clear();
  phase_completed_ = false;
  prepare_lanes();
  order_lanes();
}

void BlockRun::prepare_lanes() {
  stacks_.reserve(plan_->threads);
  lanes_.resize(static_cast<size_t>(plan_->threads));
  async_.resize(lanes_.size());
  for (AsyncCopies& copies : async_) {
    copies.committed = 0;
    copies.pending.clear();
  }
  wgmma_.resize(lanes_.size());
  for (WgmmaQueue& queue : wgmma_) {
    queue.committed = 0;
    queue.unreleased = 0;
    queue.fenced = false;
    queue.pending.clear();
  }
  for (int i = 0; i < plan_->threads; ++i) {
    Lane& lane = lanes_[static_cast<size_t>(i)];
    lane.context = make_fiber(stacks_.bottom(i), stacks_.top(i), enter_lane);
    lane.thread = i;
    lane.wait = Wait::kNothing;
    lane.operands = &operands_[static_cast<size_t>(i / kWarpLanes)];
  }
}

void BlockRun::order_lanes() {
  const Schedule& schedule = plan_->schedule;
  lane_order_.resize(lanes_.size());
  warp_order_.resize(operands_.size());
  std::iota(lane_order_.begin(), lane_order_.end(), 0);
  std::iota(warp_order_.begin(), warp_order_.end(), 0);
  std::optional<std::mt19937_64> engine;  // filling its state takes longer than a small block
  if (schedule.order == Schedule::Order::kRandom) {
    engine.emplace(payload(schedule.seed, static_cast<uint64_t>(block_)));
  }
  for (auto first = lane_order_.begin(); first != lane_order_.end(); first += kWarpLanes) {
    arrange(first, first + kWarpLanes, schedule.order, engine);
    for (int i = 0; i < kWarpLanes; ++i) {
      lanes_[static_cast<size_t>(first[i])].next =
          &lanes_[static_cast<size_t>(first[(i + 1) % kWarpLanes])];
    }
  }
  arrange(warp_order_.begin(), warp_order_.end(), schedule.order, engine);
}

void BlockRun::run_warp(int warp) {
  scheduler_.next =
      &lanes_[static_cast<size_t>(lane_order_[static_cast<size_t>(warp) * kWarpLanes])];
  yield();
  if (error_) std::rethrow_exception(error_);
  const auto of_warp = lanes_.begin() + static_cast<std::ptrdiff_t>(warp) * kWarpLanes;
  const bool may_arrive = std::any_of(of_warp, of_warp + kWarpLanes,
                                      [](const Lane& lane) { return lane.wait == Wait::kPhase; });
  if (operands_[static_cast<size_t>(warp)].arrived != 0 && !may_arrive) {
    report_divergence(warp * kWarpLanes, (warp + 1) * kWarpLanes, FaultKind::kDivergentCollective);
  }
}

/// Releases the barrier at which all threads stand; false when all have returned.
bool BlockRun::release_block() {
  const Lane& first = lanes_.front();
  const bool alike = std::all_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
    return lane.wait == first.wait && (lane.wait == Wait::kForever || lane.site == first.site);
  });
  const bool endless = std::any_of(lanes_.begin(), lanes_.end(),
                                   [](const Lane& lane) { return lane.wait == Wait::kPhase; });
  if (endless) report_divergence(0, plan_->threads, FaultKind::kEndlessWait);
  if (!alike) report_divergence(0, plan_->threads, FaultKind::kDivergentBarrier);
  if (first.wait == Wait::kForever) return false;
  for (Lane& lane : lanes_) lane.wait = Wait::kNothing;
  shadow_.block_barrier();
  return true;
}

void BlockRun::run(const BlockPlan& plan, int64_t block) {
  prepare(plan, block);
  scheduler_.thread = plan.threads;
  running_ = &scheduler_;
  running_block = this;
  struct Reset {
    ~Reset() { running_block = nullptr; }
  } reset;
  do {
    for (const int warp : warp_order_) run_warp(warp);
  } while (wake_for_phases() || release_block());
  check_copies_arrived();
}

void run_grid(const BlockPlan& plan) {
  require(plan.threads >= kWarpLanes && plan.threads <= 1024 && plan.threads % kWarpLanes == 0,
          "threads", plan.threads, "a multiple of 32 up to 1024");
  static thread_local BlockRun own_run;
  const int64_t of_columns = plan.schedule.x_of_columns;
  const bool window = of_columns == 0 || of_columns == plan.grid.x;
  const int64_t x_begin = window ? std::max<int64_t>(0, plan.schedule.x_begin) : 0;
  const int64_t x_end = window ? std::min(plan.grid.x, plan.schedule.x_end) : plan.grid.x;
  const int64_t columns = x_end - x_begin;
  if (columns <= 0) return;
  const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
  for_each_block(columns * plan.grid.y, threads, [&](int64_t i) {
    own_run.run(plan, i / columns * plan.grid.x + x_begin + i % columns);
  });
}

}  // namespace planegate::simt
