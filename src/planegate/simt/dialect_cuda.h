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
  __host__ __device__ GlobalPtr operator+(int64_t n) const { return GlobalPtr(at_ + n); }
  template <class U>
  __host__ __device__ GlobalPtr<U> cast() const {
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

PLANEGATE_DEVICE uint32_t half2_add(uint32_t a, uint32_t b) {
  uint32_t sum;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
PLANEGATE_DEVICE uint32_t half2_mul(uint32_t a, uint32_t b) {
  uint32_t product;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}
PLANEGATE_DEVICE uint32_t float_to_half2(float low, float high) {
  uint32_t halves;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
  return halves;
}
PLANEGATE_DEVICE uint32_t byte_permute(uint32_t a, uint32_t b, uint32_t selector) {
  return __byte_perm(a, b, selector);
}

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Not there: consumers that use them are refused on other architectures.
PLANEGATE_DEVICE void barrier_init(SharedPtr<Barrier>, int) {
  __trap();
}
PLANEGATE_DEVICE void barrier_arrive_expect(SharedPtr<Barrier>, int) {
  __trap();
}
PLANEGATE_DEVICE void barrier_wait(SharedPtr<Barrier>, int) {
  __trap();
}
PLANEGATE_DEVICE void bulk_copy(SharedPtr<Words4>, GlobalPtr<const Words4>, int,
                                SharedPtr<Barrier>) {
  __trap();
}
PLANEGATE_DEVICE void fence_async() {
  __trap();
}
PLANEGATE_DEVICE void wgmma_fence() {
  __trap();
}
PLANEGATE_DEVICE void wgmma_commit() {
  __trap();
}
template <int kGroups>
PLANEGATE_DEVICE void wgmma_wait() {
  __trap();
}
template <int kSums>
PLANEGATE_DEVICE void wgmma_m64k16_f16(float (&)[kSums], const Words4&, SharedPtr<const Words4>, int,
                                       bool) {
  __trap();
}
PLANEGATE_DEVICE void wgmma_release(const Words4&) {
  __trap();
}

#else

PLANEGATE_DEVICE void barrier_init(SharedPtr<Barrier> barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier.window()), "r"(arrivals)
               : "memory");
}
PLANEGATE_DEVICE void barrier_arrive_expect(SharedPtr<Barrier> barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.window()),
               "r"(bytes)
               : "memory");
}
PLANEGATE_DEVICE void barrier_wait(SharedPtr<Barrier> barrier, int parity) {
  uint32_t complete = 0;
  while (complete == 0) {
    asm volatile(
        "{ .reg .pred complete; mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2; "
        "selp.u32 %0, 1, 0, complete; }"
        : "=r"(complete)
        : "r"(barrier.window()), "r"(parity)
        : "memory");
  }
}
PLANEGATE_DEVICE void bulk_copy(SharedPtr<Words4> to, GlobalPtr<const Words4> from, int bytes,
                                SharedPtr<Barrier> barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          to.window()),
      "l"(__cvta_generic_to_global(from.at())), "r"(bytes), "r"(barrier.window())
      : "memory");
}

PLANEGATE_DEVICE void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
PLANEGATE_DEVICE void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
PLANEGATE_DEVICE void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kGroups>
PLANEGATE_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}

/// An operand's registers are free to be written again from here on.
PLANEGATE_DEVICE void wgmma_release(const Words4& a) {
  asm volatile("" ::"r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]) : "memory");
}

/// Matrix descriptor of a K-major tile of f16: 8 rows of 128 bytes, swizzled, 1024 bytes apart.
PLANEGATE_DEVICE uint64_t tile_descriptor(SharedPtr<const Words4> tile, int k) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kStride = uint64_t{1024 / 16} << 32;
  constexpr uint64_t kUnusedLeading = uint64_t{1} << 16;
  const uint64_t start = (tile.window() + static_cast<uint32_t>(k) * 32) >> 4 & 0x3FFFu;
  return kSwizzle128 | kStride | kUnusedLeading | start;
}

PLANEGATE_DEVICE void wgmma_m64k16_f16(float (&sum)[64], const Words4& a,
                                       SharedPtr<const Words4> tile, int k, bool add) {
  asm volatile(
      "{ .reg .pred add; setp.ne.b32 add, %69, 0; "
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, add, 1, 1, 0; }"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]),
        "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
        "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]),
        "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]),
        "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]),
        "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]),
        "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]),
        "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
        "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]),
        "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]),
        "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]),
        "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]),
        "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]),
        "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
        "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]),
        "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63])
      : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "l"(tile_descriptor(tile, k)),
        "r"(static_cast<int>(add))
      : "memory");
}
PLANEGATE_DEVICE void wgmma_m64k16_f16(float (&sum)[128], const Words4& a,
                                       SharedPtr<const Words4> tile, int k, bool add) {
  asm volatile(
      "{ .reg .pred add; setp.ne.b32 add, %133, 0; "
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "{%128, %129, %130, %131}, %132, add, 1, 1, 0; }"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]),
        "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
        "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]),
        "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]),
        "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]),
        "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]),
        "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]),
        "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
        "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]),
        "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]),
        "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]),
        "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]),
        "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]),
        "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
        "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]),
        "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63]),
        "+f"(sum[64]), "+f"(sum[65]), "+f"(sum[66]), "+f"(sum[67]),
        "+f"(sum[68]), "+f"(sum[69]), "+f"(sum[70]), "+f"(sum[71]),
        "+f"(sum[72]), "+f"(sum[73]), "+f"(sum[74]), "+f"(sum[75]),
        "+f"(sum[76]), "+f"(sum[77]), "+f"(sum[78]), "+f"(sum[79]),
        "+f"(sum[80]), "+f"(sum[81]), "+f"(sum[82]), "+f"(sum[83]),
        "+f"(sum[84]), "+f"(sum[85]), "+f"(sum[86]), "+f"(sum[87]),
        "+f"(sum[88]), "+f"(sum[89]), "+f"(sum[90]), "+f"(sum[91]),
        "+f"(sum[92]), "+f"(sum[93]), "+f"(sum[94]), "+f"(sum[95]),
        "+f"(sum[96]), "+f"(sum[97]), "+f"(sum[98]), "+f"(sum[99]),
        "+f"(sum[100]), "+f"(sum[101]), "+f"(sum[102]), "+f"(sum[103]),
        "+f"(sum[104]), "+f"(sum[105]), "+f"(sum[106]), "+f"(sum[107]),
        "+f"(sum[108]), "+f"(sum[109]), "+f"(sum[110]), "+f"(sum[111]),
        "+f"(sum[112]), "+f"(sum[113]), "+f"(sum[114]), "+f"(sum[115]),
        "+f"(sum[116]), "+f"(sum[117]), "+f"(sum[118]), "+f"(sum[119]),
        "+f"(sum[120]), "+f"(sum[121]), "+f"(sum[122]), "+f"(sum[123]),
        "+f"(sum[124]), "+f"(sum[125]), "+f"(sum[126]), "+f"(sum[127])
      : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "l"(tile_descriptor(tile, k)),
        "r"(static_cast<int>(add))
      : "memory");
}

#endif

}  // namespace cuda_abi
}  // namespace planegate::simt
