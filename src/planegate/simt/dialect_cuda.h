#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <planegate/simt/words.h>

namespace planegate::simt {
inline namespace cuda_abi {

PLANEGATE_DEVICE int thread() {
  return static_cast<int>(threadIdx.x);
}
PLANEGATE_DEVICE int lane() {
  return thread() % kWarpLanes;
}
PLANEGATE_DEVICE int warp() {
  return thread() / kWarpLanes;
}
PLANEGATE_DEVICE int block_x() {
  return static_cast<int>(blockIdx.x);
}
PLANEGATE_DEVICE int block_y() {
  return static_cast<int>(blockIdx.y);
}
PLANEGATE_DEVICE int grid_x() {
  return static_cast<int>(gridDim.x);
}

/// A device pointer; formed on the host, used on the device.
template <class T>
class GlobalPtr {
 public:
  GlobalPtr() = default;
  __host__ __device__ explicit GlobalPtr(T* at) : at_(at) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  __host__ __device__ GlobalPtr(GlobalPtr<U> other) : at_(other.at()) {}  // NOLINT

  PLANEGATE_DEVICE std::remove_const_t<T> load(int64_t i = 0) const { return at_[i]; }
  PLANEGATE_DEVICE void store(int64_t i, const T& value) const { at_[i] = value; }
  PLANEGATE_DEVICE GlobalPtr operator+(int64_t n) const { return GlobalPtr(at_ + n); }
  template <class U>
  PLANEGATE_DEVICE GlobalPtr<U> cast() const {
    return GlobalPtr<U>(reinterpret_cast<U*>(at_));
  }
  PLANEGATE_DEVICE explicit operator bool() const { return at_ != nullptr; }

  __host__ __device__ T* at() const { return at_; }

 private:
  T* at_ = nullptr;
};

template <class T>
class SharedPtr {
 public:
  PLANEGATE_DEVICE explicit SharedPtr(T* at) : at_(at) {}

  PLANEGATE_DEVICE std::remove_const_t<T> load(int i = 0) const { return at_[i]; }
  PLANEGATE_DEVICE void store(int i, const T& value) const { at_[i] = value; }
  PLANEGATE_DEVICE SharedPtr operator+(int n) const { return SharedPtr(at_ + n); }
  template <class U>
  PLANEGATE_DEVICE SharedPtr<U> cast() const {
    return SharedPtr<U>(reinterpret_cast<U*>(at_));
  }
  /// The 32-bit shared-window address that PTX operands take.
  PLANEGATE_DEVICE uint32_t window() const {
    return static_cast<uint32_t>(__cvta_generic_to_shared(at_));
  }

 private:
  T* at_;
};

template <class S>
class SharedRef {
 public:
  PLANEGATE_DEVICE explicit SharedRef(S* base) : base_(base) {}

  template <class T, size_t N>
  PLANEGATE_DEVICE SharedPtr<T> at(T (S::*member)[N]) const {
    return SharedPtr<T>(base_->*member);
  }

 private:
  S* base_;
};

PLANEGATE_DEVICE void sync_threads() {
  __syncthreads();
}
PLANEGATE_DEVICE void sync_warp() {
  __syncwarp();
}

template <class T>
PLANEGATE_DEVICE T shuffle(T value, int source_lane) {
  static_assert(sizeof(T) == 4);
  return __shfl_sync(0xFFFFFFFFu, value, source_lane);
}
template <class T>
PLANEGATE_DEVICE T shuffle_xor(T value, int mask) {
  static_assert(sizeof(T) == 4);
  return __shfl_xor_sync(0xFFFFFFFFu, value, mask);
}

PLANEGATE_DEVICE int32_t dp4a(uint32_t a, uint32_t b, int32_t c) {
  return __dp4a(static_cast<int>(a), static_cast<int>(b), c);
}

PLANEGATE_DEVICE void cp_async_16(SharedPtr<Words4> to, GlobalPtr<const std::byte> from,
                                  int source_bytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to.window()), "l"(from.at()),
               "r"(source_bytes)
               : "memory");
}
PLANEGATE_DEVICE void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kGroups>
PLANEGATE_DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

PLANEGATE_DEVICE Words4 ldmatrix_x4(SharedPtr<const Words4> row) {
  Words4 words;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.w[0]), "=r"(words.w[1]), "=r"(words.w[2]), "=r"(words.w[3])
               : "r"(row.window())
               : "memory");
  return words;
}

PLANEGATE_DEVICE void mma_m16n8k16_s8(FragmentC& c, const FragmentA& a, uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(c.c[0]), "+r"(c.c[1]), "+r"(c.c[2]), "+r"(c.c[3])
      : "r"(a.row_g), "r"(a.row_g8), "r"(b));
}

}  // namespace cuda_abi
}  // namespace planegate::simt
