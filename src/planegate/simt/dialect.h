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
/// Source of the operations: PTX ISA 9.0.

#include <planegate/simt/words.h>

#if defined(__CUDACC__)
#include <planegate/simt/dialect_cuda.h>
#else
#include <planegate/simt/dialect_host.h>
#endif
