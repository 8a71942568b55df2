#pragma once

#include <type_traits>

#include <planegate/simt/block_run.h>
#include <planegate/simt/words.h>

namespace planegate::simt {
inline namespace host_abi {

inline int thread() {
  return running_block->thread();
}
inline int lane() {
  return static_cast<int>(static_cast<uint32_t>(thread()) % uint32_t{kWarpLanes});
}
inline int warp() {
  return static_cast<int>(static_cast<uint32_t>(thread()) / uint32_t{kWarpLanes});
}
inline int block_x() {
  return static_cast<int>(running_block->block() % running_block->grid().x);
}
inline int block_y() {
  return static_cast<int>(running_block->block() / running_block->grid().x);
}
inline int grid_x() {
  return static_cast<int>(running_block->grid().x);
}

namespace detail {
template <class T>
inline constexpr bool is_access = std::is_trivially_copyable_v<T> &&
                                  (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 ||
                                   sizeof(T) == 8 || sizeof(T) == 16);
template <class T>
T copy_from(const std::byte* at) {
  std::remove_const_t<T> value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
}  // namespace detail

/// A pointer into a buffer: may be formed anywhere, is checked when used.
template <class T>
class GlobalPtr {
 public:
  GlobalPtr() = default;
  GlobalPtr(std::byte* at, const Region* region) : at_(at), region_(region) {}
  /// T* to const T*.
  template <class U>
  requires std::is_same_v<const U, T> GlobalPtr(GlobalPtr<U> other)
      : at_(other.at()), region_(other.region()) {}  // NOLINT

  std::remove_const_t<T> load(int64_t i = 0) const {
    static_assert(detail::is_access<T>);
    const std::byte* at = at_ + i * static_cast<int64_t>(sizeof(T));
    running_block->check_global(*region_, at, sizeof(T), sizeof(T), "reads");
    return detail::copy_from<std::remove_const_t<T>>(at);
  }
  void store(int64_t i, const T& value) const requires(!std::is_const_v<T>) {
    static_assert(detail::is_access<T>);
    std::byte* at = at_ + i * static_cast<int64_t>(sizeof(T));
    running_block->check_global(*region_, at, sizeof(T), sizeof(T), "writes");
    std::memcpy(at, &value, sizeof value);
  }
  GlobalPtr operator+(int64_t n) const {
    return {at_ + n * static_cast<int64_t>(sizeof(T)), region_};
  }
  template <class U>
  requires(std::is_const_v<U> || !std::is_const_v<T>) GlobalPtr<U> cast()
  const { return {at_, region_}; }
  explicit operator bool() const { return region_ != nullptr; }

  std::byte* at() const { return at_; }
  const Region* region() const { return region_; }

 private:
  std::byte* at_ = nullptr;
  const Region* region_ = nullptr;
};

/// A pointer into the block's shared memory.
template <class T>
class SharedPtr {
 public:
  explicit SharedPtr(std::byte* at) : at_(at) {}

  std::remove_const_t<T> load(int i = 0) const {
    static_assert(detail::is_access<T>);
    const std::byte* at = at_ + i * static_cast<int>(sizeof(T));
    running_block->check_shared_read(at, sizeof(T));
    return detail::copy_from<std::remove_const_t<T>>(at);
  }
  void store(int i, const T& value) const requires(!std::is_const_v<T>) {
    static_assert(detail::is_access<T> && sizeof(T) % 4 == 0,
                  "the executor watches shared memory by words: store 4, 8 or 16 bytes");
    std::byte* at = at_ + i * static_cast<int>(sizeof(T));
    running_block->check_shared_write(at, sizeof(T));
    std::memcpy(at, &value, sizeof value);
  }
  SharedPtr operator+(int n) const { return SharedPtr(at_ + n * static_cast<int>(sizeof(T))); }
  template <class U>
  requires(std::is_const_v<U> || !std::is_const_v<T>) SharedPtr<U> cast()
  const { return SharedPtr<U>(at_); }
  std::byte* at() const { return at_; }

 private:
  std::byte* at_;
};

/// The block's shared memory as a struct.
template <class S>
class SharedRef {
 public:
  template <class T, size_t N>
  SharedPtr<T> at(T (S::*member)[N]) const {
    S* base = reinterpret_cast<S*>(running_block->shared());
    return SharedPtr<T>(reinterpret_cast<std::byte*>(&(base->*member)));
  }
};

[[gnu::always_inline]] inline void sync_threads(Site site = Site::here()) {
  running_block->sync_threads(site);
}
[[gnu::always_inline]] inline void sync_warp(Site site = Site::here()) {
  running_block->collective(Collective::kSyncWarp, site);
}

template <class T>
[[gnu::always_inline]] inline T shuffle(T value, int source_lane, Site site = Site::here()) {
  static_assert(sizeof(T) == 4);
  BlockRun& run = *running_block;
  const int me = lane();
  WarpOperands& operands = run.operands();
  std::memcpy(&operands.word[0][me], &value, 4);
  operands.word[1][me] = static_cast<uint32_t>(source_lane);
  run.collective(Collective::kShuffle, site);
  std::memcpy(&value, &operands.word[0][me], 4);
  return value;
}
template <class T>
[[gnu::always_inline]] inline T shuffle_xor(T value, int mask, Site site = Site::here()) {
  return shuffle(value, lane() ^ mask, site);
}

/// c + the dot product of four signed bytes, wrapping.
inline int32_t dp4a(uint32_t a, uint32_t b, int32_t c) {
  auto sum = static_cast<uint32_t>(c);
  for (int i = 0; i < 4; ++i) {
    const int product = static_cast<int8_t>(a >> 8 * i) * static_cast<int8_t>(b >> 8 * i);
    sum += static_cast<uint32_t>(product);
  }
  return static_cast<int32_t>(sum);
}

inline void cp_async_16(SharedPtr<Words4> to, GlobalPtr<const std::byte> from,
                        int source_bytes = 16) {
  BlockRun& run = *running_block;
  if (source_bytes > 0) {
    run.check_global(*from.region(), from.at(), source_bytes, 16, "copies");
  }
  run.async_issued(to.at(), 16);
  std::memset(to.at(), 0, 16);
  if (source_bytes > 0) std::memcpy(to.at(), from.at(), static_cast<size_t>(source_bytes));
}
inline void cp_async_commit() {
  running_block->async_committed();
}
template <int kGroups>
void cp_async_wait() {
  running_block->async_waited(kGroups);
}

[[gnu::always_inline]] inline Words4 ldmatrix_x4(SharedPtr<const Words4> row,
                                                 Site site = Site::here()) {
  Words4 words = row.load();
  BlockRun& run = *running_block;
  const int me = lane();
  WarpOperands& operands = run.operands();
  for (int i = 0; i < 4; ++i) operands.word[i][me] = words.w[i];
  run.collective(Collective::kLdmatrix, site);
  for (int i = 0; i < 4; ++i) words.w[i] = operands.word[i][me];
  return words;
}

[[gnu::always_inline]] inline void mma_m16n8k16_s8(FragmentC& c, const FragmentA& a, uint32_t b,
                                                   Site site = Site::here()) {
  BlockRun& run = *running_block;
  const int me = lane();
  WarpOperands& operands = run.operands();
  operands.word[0][me] = a.row_g;
  operands.word[1][me] = a.row_g8;
  operands.word[2][me] = b;
  for (int i = 0; i < 4; ++i) operands.word[3 + i][me] = static_cast<uint32_t>(c.c[i]);
  run.collective(Collective::kMmaS8, site);
  for (int i = 0; i < 4; ++i) c.c[i] = static_cast<int32_t>(operands.word[3 + i][me]);
}

inline uint32_t float_to_half2(float low, float high) {
  return float_to_half(low) | float_to_half(high) << 16;
}
/// f32 holds what two f16 add and multiply to well enough that rounding twice is rounding once.
inline uint32_t half2_add(uint32_t a, uint32_t b) {
  return float_to_half2(half_to_float(a & 0xFFFFu) + half_to_float(b & 0xFFFFu),
                        half_to_float(a >> 16) + half_to_float(b >> 16));
}
inline uint32_t half2_mul(uint32_t a, uint32_t b) {
  return float_to_half2(half_to_float(a & 0xFFFFu) * half_to_float(b & 0xFFFFu),
                        half_to_float(a >> 16) * half_to_float(b >> 16));
}
inline uint32_t byte_permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = a | uint64_t{b} << 32;
  uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t from = selector >> 4 * i & 7;
    out |= static_cast<uint32_t>(bytes >> 8 * from & 0xFF) << 8 * i;
  }
  return out;
}

inline void fence_async() {
  running_block->fence_async();
}
inline void barrier_init(SharedPtr<Barrier> barrier, int arrivals) {
  running_block->barrier_initialised(barrier.at(), arrivals);
}
inline void barrier_arrive_expect(SharedPtr<Barrier> barrier, int bytes) {
  running_block->barrier_arrived(barrier.at(), bytes);
}
[[gnu::always_inline]] inline void barrier_wait(SharedPtr<Barrier> barrier, int parity,
                                                Site site = Site::here()) {
  running_block->barrier_waited(barrier.at(), parity, site);
}
inline void bulk_copy(SharedPtr<Words4> to, GlobalPtr<const Words4> from, int bytes,
                      SharedPtr<Barrier> barrier) {
  running_block->bulk_issued(to.at(), *from.region(), from.at(), bytes, barrier.at());
}
inline void wgmma_fence() {
  running_block->wgmma_fenced();
}
/// N, from the lane's share of the sum: 64 for 128, 128 for 256.
template <int kSums>
void wgmma_m64k16_f16(float (&sum)[kSums], const Words4& a, SharedPtr<const Words4> tile, int k,
                      bool add) {
  static_assert(kSums == 64 || kSums == 128);
  WgmmaOperands operands{sum, 2 * kSums, {}, tile.at(), k, add};
  std::memcpy(operands.a, a.w, sizeof operands.a);
  running_block->wgmma_issued(operands);
}
inline void wgmma_release(const Words4&) {
  running_block->wgmma_released();
}
inline void wgmma_commit() {
  running_block->wgmma_committed();
}
template <int kGroups>
[[gnu::always_inline]] inline void wgmma_wait(Site site = Site::here()) {
  running_block->wgmma_waited(kGroups, site);
}

}  // namespace host_abi
}  // namespace planegate::simt
