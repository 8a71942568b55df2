#include <algorithm>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <omp.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>
#include <planegate/simt/block_run.h>

namespace planegate::simt {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constinit thread_local BlockRun* running_block = nullptr;

namespace {

template <class Engine>
void arrange(std::vector<int>::iterator first, std::vector<int>::iterator last,
             Schedule::Order order, Engine& engine) {
  if (order == Schedule::Order::kDescending) std::reverse(first, last);
  if (order == Schedule::Order::kRandom) std::shuffle(first, last, engine);
}

}  // namespace

void enter_lane(transfer_t arrival) {
  BlockRun& run = *static_cast<BlockRun*>(arrival.data);
  run.fiber_of(run.from_) = arrival.fctx;
  const bool from_scheduler = run.from_ == run.plan_->threads;
  const void* bottom = nullptr;
  size_t bytes = 0;
  note_first_arrival(&bottom, &bytes);
  if (from_scheduler) {
    run.scheduler_stack_ = bottom;
    run.scheduler_stack_bytes_ = bytes;
  }
  run.run_lane();
}

void BlockRun::run_lane() {
  try {
    plan_->body(plan_->context);
  } catch (...) {
    error_ = std::current_exception();
  }
  lanes_[static_cast<size_t>(current_)].wait = Wait::kForever;
  if (error_) {
    switch_to(plan_->threads);
  } else {
    yield();
  }
  std::terminate();
}

void*& BlockRun::fiber_of(int thread) {
  return thread == plan_->threads ? scheduler_ : lanes_[static_cast<size_t>(thread)].fiber;
}

void BlockRun::switch_to(int next) {
  if (next == current_) return;
  const bool to_scheduler = next == plan_->threads;
  const int me = current_;
  SwitchNotes notes;
  notes.leave(to_scheduler ? scheduler_stack_ : stacks_.bottom(next),
              to_scheduler ? scheduler_stack_bytes_
                           : static_cast<size_t>(stacks_.top(next) - stacks_.bottom(next)));
  from_ = me;
  current_ = next;
  const transfer_t arrival = jump_fcontext(fiber_of(next), this);
  fiber_of(from_) = arrival.fctx;
  const void* bottom = nullptr;
  size_t bytes = 0;
  notes.arrive(&bottom, &bytes);
  if (from_ == plan_->threads) {
    scheduler_stack_ = bottom;
    scheduler_stack_bytes_ = bytes;
  }
}

int BlockRun::next_ready(int warp, int place) const {
  const int* order = lane_order_.data() + warp * kWarpLanes;
  for (int step = 1; step <= kWarpLanes; ++step) {
    const int thread = order[(place + step) % kWarpLanes];
    if (lanes_[static_cast<size_t>(thread)].wait == Wait::kNothing) return thread;
  }
  return plan_->threads;
}

void BlockRun::yield() {
  switch_to(next_ready(current_ / kWarpLanes, place_in_order_[static_cast<size_t>(current_)]));
}

void BlockRun::sync_threads(Site site) {
  Lane& lane = lanes_[static_cast<size_t>(current_)];
  lane.wait = Wait::kBlock;
  lane.site = site;
  yield();
}

Operands& BlockRun::collective(Collective kind, const Operands& operands, Site site) {
  const auto me = static_cast<size_t>(current_);
  const int warp = current_ / kWarpLanes;
  Lane& lane = lanes_[me];
  lane.wait = Wait::kWarp;
  lane.kind = kind;
  lane.site = site;
  operands_[me] = operands;
  if (++arrived_[static_cast<size_t>(warp)] == kWarpLanes) complete_collective(warp);
  yield();
  return operands_[me];
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
  arrived_[static_cast<size_t>(warp)] = 0;
}

void BlockRun::async_issued(const std::byte* destination, int bytes) {
  check_shared_write(destination, bytes);
  Lane& lane = lanes_[static_cast<size_t>(current_)];
  const auto words = static_cast<uint32_t>(bytes) / 4;
  const size_t first = shadow_index(destination);
  for (size_t i = first; i < first + words; ++i) shadow_[i].pending = true;
  lane.pending.push_back({static_cast<uint32_t>(first), words, lane.committed});
}

void BlockRun::async_waited(int groups_left) {
  Lane& lane = lanes_[static_cast<size_t>(current_)];
  auto keep = lane.pending.begin();
  for (const Pending& copy : lane.pending) {
    if (copy.group + static_cast<uint32_t>(groups_left) >= lane.committed) {
      *keep++ = copy;
      continue;
    }
    for (size_t i = copy.word; i < copy.word + copy.words; ++i) {
      shadow_[i].pending = false;
      shadow_[i].write_tick = tick_;
    }
  }
  lane.pending.erase(keep, lane.pending.end());
}

void BlockRun::prepare(const BlockPlan& plan, int64_t block) {
  plan_ = &plan;
  block_ = block;
  error_ = nullptr;
  const auto threads = static_cast<size_t>(plan.threads);
  const size_t words = (static_cast<size_t>(plan.shared_bytes) + 3) / 4;
  stacks_.reserve(plan.threads);
  lanes_.resize(threads);
  operands_.resize(threads);
  arrived_.assign(threads / kWarpLanes, 0);
  warp_tick_.assign(threads / kWarpLanes, 1);
  tick_ = 1;
  block_tick_ = 1;
  // 16-byte alignment comes with operator new; the poison is what no code or scale looks like.
  shared_.assign(words * 4, std::byte{0xDB});
  shadow_.assign(words, ShadowWord{});
  for (size_t i = 0; i < threads; ++i) {
    std::byte* top = stacks_.top(static_cast<int>(i));
    const auto bytes = static_cast<size_t>(top - stacks_.bottom(static_cast<int>(i)));
    Lane& lane = lanes_[i];
    lane.fiber = make_fcontext(top, bytes, enter_lane);
    lane.wait = Wait::kNothing;
    lane.committed = 0;
    lane.pending.clear();
  }
  order_lanes();
}

void BlockRun::order_lanes() {
  const auto threads = static_cast<size_t>(plan_->threads);
  const Schedule& schedule = plan_->schedule;
  std::mt19937_64 engine(payload(schedule.seed, static_cast<uint64_t>(block_)));
  lane_order_.resize(threads);
  place_in_order_.resize(threads);
  warp_order_.resize(threads / kWarpLanes);
  std::iota(lane_order_.begin(), lane_order_.end(), 0);
  std::iota(warp_order_.begin(), warp_order_.end(), 0);
  for (size_t first = 0; first < threads; first += kWarpLanes) {
    const auto begin = lane_order_.begin() + static_cast<std::ptrdiff_t>(first);
    arrange(begin, begin + kWarpLanes, schedule.order, engine);
  }
  arrange(warp_order_.begin(), warp_order_.end(), schedule.order, engine);
  for (size_t i = 0; i < threads; ++i) {
    place_in_order_[static_cast<size_t>(lane_order_[i])] = static_cast<int>(i % kWarpLanes);
  }
}

void BlockRun::run_warp(int warp) {
  switch_to(next_ready(warp, kWarpLanes - 1));
  if (error_) std::rethrow_exception(error_);
  if (arrived_[static_cast<size_t>(warp)] != 0) {
    report_divergence(warp * kWarpLanes, (warp + 1) * kWarpLanes, FaultKind::kDivergentCollective);
  }
}

/// Releases the barrier at which all threads stand; false when all have returned.
bool BlockRun::release_block() {
  const Lane& first = lanes_.front();
  const bool alike = std::all_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
    return lane.wait == first.wait && (lane.wait == Wait::kForever || lane.site == first.site);
  });
  if (!alike) report_divergence(0, plan_->threads, FaultKind::kDivergentBarrier);
  if (first.wait == Wait::kForever) return false;
  for (Lane& lane : lanes_) lane.wait = Wait::kNothing;
  block_tick_ = ++tick_;
  return true;
}

void BlockRun::run(const BlockPlan& plan, int64_t block) {
  prepare(plan, block);
  current_ = plan.threads;
  running_block = this;
  struct Reset {
    ~Reset() { running_block = nullptr; }
  } reset;
  do {
    for (const int warp : warp_order_) run_warp(warp);
  } while (release_block());
}

void run_grid(const BlockPlan& plan) {
  require(plan.threads >= kWarpLanes && plan.threads <= 1024 && plan.threads % kWarpLanes == 0,
          "threads", plan.threads, "a multiple of 32 up to 1024");
  static thread_local BlockRun own_run;
  const int64_t x_begin = std::max<int64_t>(0, plan.schedule.x_begin);
  const int64_t columns = std::min(plan.grid.x, plan.schedule.x_end) - x_begin;
  if (columns <= 0) return;
  const int64_t blocks = columns * plan.grid.y;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(blocks));
  bool failed = false;
#pragma omp parallel for schedule(dynamic)
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t block = i / columns * plan.grid.x + x_begin + i % columns;
    bool stop = false;
#pragma omp atomic read
    stop = failed;
    if (stop) continue;
    try {
      own_run.run(plan, block);
    } catch (...) {
      errors[static_cast<size_t>(i)] = std::current_exception();
#pragma omp atomic write
      failed = true;
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace planegate::simt
