#pragma once

/// The kernel dialect: CUDA C++ against one small header. Under nvcc each operation is the
/// instruction; under the host compiler the same source runs on the host executor, which checks it.
///
/// A kernel is a type with
///   static constexpr int kThreads, kMinBlocks;   // threads a block, blocks an SM
///   struct Shared;                               // its shared memory, plain arrays
///   struct Args;                                 // pointers of the dialect and numbers
///   static PLANEGATE_DEVICE void run(const Args&, SharedRef<Shared>);
///
/// Both sides define, in planegate::simt:
///   thread(), lane(), warp(), block_x(), block_y(), grid_x()   coordinates
///   GlobalPtr<T>  load(i), store(i, v), + n, cast<U>()          T of 1, 2, 4, 8 or 16 bytes
///   SharedPtr<T>  load(i), store(i, v), + n, cast<U>()          stores of 4, 8 or 16 bytes
///   SharedRef<S>  at(&S::member): SharedPtr to a member array's first element
///   sync_threads(), sync_warp()
///   shuffle(v, source_lane), shuffle_xor(v, mask)               32-bit values, all 32 lanes
///   dp4a(a, b, c)                                               c += dot of four signed bytes
///   cp_async_16(SharedPtr<Words4>, GlobalPtr, source_bytes)     zero-fills beyond source_bytes
///   cp_async_commit(), cp_async_wait<N>()                       N groups may stay in flight
///   ldmatrix_x4(SharedPtr<const Words4> row)                    four 8x8 matrices of 16-bit
///   mma_m16n8k16_s8(c, a, b)                                    c += a * b in int32
///   half2_add(a, b), half2_mul(a, b)                            two f16, one rounding each
///   float_to_half2(low, high)                                   two f16
///   byte_permute(a, b, selector)                                byte i: number selector[4i..] of 8
/// and, on sm_90a, copies and products that go on while the warps do:
///   Barrier                     counts in phases; its address is a member array of Shared
///   barrier_init(SharedPtr<Barrier>, arrivals)                  by one thread, then fence_async()
///   barrier_arrive_expect(barrier, bytes)                       the phase also waits for the bytes
///   barrier_wait(barrier, parity)                               until that phase is complete
///   bulk_copy(SharedPtr<Words4>, GlobalPtr<const Words4>, bytes, barrier)
///                               by one thread; a multiple of 16 bytes, which the phase counts
///   fence_async()               own stores to shared memory before it are seen by both
///   wgmma_fence()               before a group: registers that it uses were written
///   wgmma_m64k16_f16(sum, a, tile, k, add)
///                               by four warps, 64 rows: sum = a * tile + (add ? sum : 0) in f32.
///                               sum: 64 a lane for 128 columns, 128 for 256; a: rows of each warp
///                               as for mma m16n8k16; tile: a row of 64 f16 a column, its 16-byte
///                               pieces swizzled by row % 8, at a multiple of 1024 bytes; k: which
///                               16
///   wgmma_commit(), wgmma_wait<N>()                             N groups may stay in flight
///   wgmma_release(a)            behind the wait: until here nothing may take the registers of a
/// Source of the operations: PTX ISA 9.0.

#include <planegate/simt/words.h>

#if defined(__CUDACC__)
#include <planegate/simt/dialect_cuda.h>
#else
#include <planegate/simt/dialect_host.h>
#endif
