#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <planegate/simt/block_run.h>
#include <planegate/simt/words.h>

/// wgmma.mma_async.sync.aligned.m64nNk16.f32.f16.f16 with A in registers. Its four warps make 16
/// rows each and share nothing but the tile: each is run by itself, when it is waited for.
namespace planegate::simt {
namespace {

constexpr int kRows = 16;
constexpr int kMostColumns = 256;
constexpr int kElems = 16;
constexpr int kTileRowBytes = 128;
constexpr int kSwizzleBytes = 1024;

/// Every f16 as f32.
const std::vector<float>& half_values() {
  static const std::vector<float> values = [] {
    std::vector<float> all(65536);
    for (uint32_t bits = 0; bits < all.size(); ++bits) all[bits] = half_to_float(bits);
    return all;
  }();
  return values;
}

/// Byte in the tile of the 16-byte piece that holds elements 8*piece.. of a row.
int piece_byte(int row, int piece) {
  return row * kTileRowBytes + (piece ^ row % 8) * 16;
}

/// Columns of the tile that are not all zero, widened: element-major.
struct Columns {
  std::vector<int> index;
  std::array<std::array<double, kMostColumns>, kElems> of;

  Columns(const std::byte* tile, int columns, int k, bool all) {
    for (int column = 0; column < columns; ++column) {
      uint16_t halves[kElems];
      std::memcpy(halves, tile + piece_byte(column, 2 * k), 16);
      std::memcpy(halves + 8, tile + piece_byte(column, 2 * k + 1), 16);
      if (!all && std::all_of(halves, halves + kElems, [](uint16_t h) { return h == 0; })) continue;
      const size_t at = index.size();
      index.push_back(column);
      for (size_t i = 0; i < kElems; ++i) of[i][at] = static_cast<double>(half_values()[halves[i]]);
    }
  }
};

}  // namespace

void BlockRun::wgmma_fenced() {
  WgmmaQueue& queue = wgmma_[static_cast<size_t>(thread())];
  if (queue.unreleased > 0) {
    fail(FaultKind::kNotFenced,
         fmt::format("starts a group of wgmma with {} operands of earlier ones not released: their "
                     "registers may have been taken in flight",
                     queue.unreleased));
  }
  queue.fenced = true;
}

void BlockRun::wgmma_released() {
  WgmmaQueue& queue = wgmma_[static_cast<size_t>(thread())];
  if (queue.unreleased == 0) {
    fail(FaultKind::kNotFenced, "releases an operand of a wgmma that was not waited for");
  }
  --queue.unreleased;
}

void BlockRun::wgmma_issued(const WgmmaOperands& operands) {
  WgmmaQueue& queue = wgmma_[static_cast<size_t>(thread())];
  if (!queue.fenced) {
    fail(FaultKind::kNotFenced, "issues a wgmma with no wgmma_fence since the group before");
  }
  // The registers of the sum are in flight until the wait; without `add` they hold nothing before.
  if (!operands.add)
    std::fill_n(operands.sum, operands.columns / 2, std::numeric_limits<float>::quiet_NaN());
  queue.pending.push_back({operands, queue.committed});
}

void BlockRun::wgmma_ended() {
  const size_t left = wgmma_[static_cast<size_t>(thread())].pending.size();
  if (left == 0) return;
  fail(FaultKind::kWgmmaNotWaited, fmt::format("ends with {} wgmma in flight", left));
}

void BlockRun::wgmma_committed() {
  WgmmaQueue& queue = wgmma_[static_cast<size_t>(thread())];
  ++queue.committed;
  queue.fenced = false;
}

void BlockRun::check_tile(const WgmmaOperands& operands, int thread) {
  const int64_t offset = operands.tile - shared_.data();
  const int tile_bytes = operands.columns * kTileRowBytes;
  const bool inside = offset >= 0 && offset + tile_bytes <= plan_->shared_bytes;
  if (!inside || offset % kSwizzleBytes != 0) {
    report_shared(offset, tile_bytes, inside, "multiplies");
  }
  for (int row = 0; row < operands.columns; ++row) {
    for (int piece = 2 * operands.k; piece < 2 * operands.k + 2; ++piece) {
      const size_t first = shadow_index(operands.tile + piece_byte(row, piece));
      if (const ShadowWord* bad = shadow_.read(first, 4, thread)) report_read(*bad);
      if (const ShadowWord* bad = shadow_.not_fenced(first, 4)) {
        fail(FaultKind::kNotFenced,
             fmt::format(
                 "multiplies shared byte {}, which thread {} wrote with no fence_async since",
                 shadow_.index(*bad) * 4, bad->writing_thread()));
      }
    }
  }
}

void BlockRun::multiply_tile(int warp, size_t index) {
  const auto first = static_cast<size_t>(warp) * kWarpLanes;
  const auto of_lane = [&](size_t lane) -> const WgmmaOperands& {
    return wgmma_[first + lane].pending[index].operands;
  };
  const WgmmaOperands& reference = of_lane(0);
  check_tile(reference, static_cast<int>(first));
  double a[kRows][kElems];
  bool finite = true;
  for (size_t lane = 0; lane < kWarpLanes; ++lane) {
    for (size_t word = 0; word < 4; ++word) {
      for (size_t half = 0; half < 2; ++half) {
        const float value = half_values()[of_lane(lane).a[word] >> 16 * half & 0xFFFFu];
        finite = finite && std::isfinite(value);
        a[lane / 4 + word % 2 * 8][lane % 4 * 2 + word / 2 * 8 + half] = static_cast<double>(value);
      }
    }
  }
  if (!reference.add) {
    for (size_t lane = 0; lane < kWarpLanes; ++lane)
      std::fill_n(of_lane(lane).sum, reference.columns / 2, 0.0f);
  }
  const Columns columns(reference.tile, reference.columns, reference.k, !finite);
  for (size_t row = 0; row < kRows; ++row) {
    std::array<double, kMostColumns> dots = {};
    for (size_t k = 0; k < kElems; ++k) {
      for (size_t c = 0; c < columns.index.size(); ++c) dots[c] += a[row][k] * columns.of[k][c];
    }
    for (size_t c = 0; c < columns.index.size(); ++c) {
      const int column = columns.index[c];
      const size_t lane = row % 8 * 4 + static_cast<size_t>(column % 8 / 2);
      float& sum = of_lane(lane).sum[column / 8 * 4 + static_cast<int>(row / 8) * 2 + column % 2];
      sum = static_cast<float>(static_cast<double>(sum) + dots[c]);
    }
  }
}

void BlockRun::perform_wgmma(int warp) {
  const auto first = static_cast<size_t>(warp) * kWarpLanes;
  const WgmmaQueue& reference = wgmma_[first];
  const auto done = [&](const Wgmma& one) {
    return one.group + reference.groups_left < reference.committed;
  };
  for (size_t lane = first; lane < first + kWarpLanes; ++lane) {
    const auto same = [](const Wgmma& a, const Wgmma& b) {
      return a.group == b.group && a.operands.tile == b.operands.tile &&
             a.operands.columns == b.operands.columns && a.operands.k == b.operands.k &&
             a.operands.add == b.operands.add;
    };
    const auto& pending = wgmma_[lane].pending;
    if (!std::equal(pending.begin(), pending.end(), reference.pending.begin(),
                    reference.pending.end(), same)) {
      fail(FaultKind::kDivergentCollective, "waits for other wgmma than the rest of its warp");
    }
  }
  const auto& pending = reference.pending;
  const auto end = static_cast<size_t>(std::count_if(pending.begin(), pending.end(), done));
  for (size_t i = 0; i < end; ++i) multiply_tile(warp, i);
  for (size_t lane = first; lane < first + kWarpLanes; ++lane) {
    WgmmaQueue& queue = wgmma_[lane];
    queue.unreleased += static_cast<uint32_t>(end);
    queue.pending.erase(queue.pending.begin(),
                        queue.pending.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

}  // namespace planegate::simt
