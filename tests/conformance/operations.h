#pragma once

#include <functional>
#include <string>
#include <vector>

#include <planegate/devices/device.h>
#include <planegate/simt/bind.h>

/// Every operation of the dialect as a kernel of one block: words in, words out.
namespace planegate::conformance {

/// One operation as both compilers see it.
struct Operation {
  std::string name;
  int64_t in_words = 0;
  int64_t out_words = 0;
  void (*launch)(Device& device, const DeviceBuffer& in, const DeviceBuffer& out) = nullptr;
};

std::vector<Operation> host_operations();
std::vector<Operation> cuda_operations();

inline namespace PLANEGATE_SIMT_ABI {

using simt::GlobalPtr;
using simt::SharedPtr;
using simt::SharedRef;
using simt::Words4;

constexpr int kThreads = 64;

struct Args {
  GlobalPtr<const uint32_t> in;
  GlobalPtr<uint32_t> out;
};

struct Slots {
  Words4 slot[2 * kThreads];
};

/// Body::run(args, slots) by 64 threads; kIn and kOut words for each of kRounds rounds.
template <class Body>
struct Kernel {
  static constexpr int kThreads = conformance::kThreads;
  static constexpr int kMinBlocks = 1;
  using Shared = Slots;
  using Args = conformance::Args;

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    for (int round = 0; round < Body::kRounds; ++round) {
      const int index = round * kThreads + simt::thread();
      Body::run(args.in + index * Body::kIn, args.out + index * Body::kOut,
                shared.at(&Slots::slot));
      simt::sync_threads();
    }
  }
};

using In = GlobalPtr<const uint32_t>;
using Out = GlobalPtr<uint32_t>;
using Slot = SharedPtr<Words4>;

PLANEGATE_DEVICE float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
PLANEGATE_DEVICE uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  // One NaN for all: the sign and payload of an f32 NaN are no part of the dialect.
  return value != value ? 0x7FFFFFFFu : bits;
}

struct Coordinates {
  static constexpr const char* kName = "coordinates";
  static constexpr int kRounds = 1, kIn = 1, kOut = 6;
  static PLANEGATE_DEVICE void run(In, Out out, Slot) {
    const int values[6] = {simt::thread(),  simt::lane(),    simt::warp(),
                           simt::block_x(), simt::block_y(), simt::grid_x()};
    for (int i = 0; i < 6; ++i) out.store(i, static_cast<uint32_t>(values[i]));
  }
};

/// All 65,536 bit patterns: the input counts up.
struct HalfToFloat {
  static constexpr const char* kName = "half_to_float";
  static constexpr int kRounds = 1024, kIn = 1, kOut = 1;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    out.store(0, as_bits(simt::half_to_float(in.load() & 0xFFFFu)));
  }
};

struct PackBytes {
  static constexpr const char* kName = "pack_bytes";
  static constexpr int kRounds = 4, kIn = 4, kOut = 1;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    out.store(0, simt::pack_bytes(in.load(0), in.load(1), in.load(2), in.load(3)));
  }
};

/// Multiplication, addition and conversion, one rounding each.
struct Arithmetic {
  static constexpr const char* kName = "arithmetic";
  static constexpr int kRounds = 16, kIn = 2, kOut = 3;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    const float a = as_float(in.load(0));
    const float b = as_float(in.load(1));
    out.store(0, as_bits(a * b));
    out.store(1, as_bits(a + b));
    out.store(2, as_bits(static_cast<float>(static_cast<int32_t>(in.load(0)))));
  }
};

struct Loads {
  static constexpr const char* kName = "global_loads";
  static constexpr int kRounds = 1, kIn = 4, kOut = 9;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    const auto bytes = in.cast<const uint8_t>();
    out.store(0, bytes.load(0));
    out.store(1, bytes.load(15));
    out.store(2, in.cast<const uint16_t>().load(3));
    out.store(3, static_cast<uint32_t>(in.cast<const uint64_t>().load(1) >> 32));
    const Words4 words = in.cast<const Words4>().load();
    for (int i = 0; i < 4; ++i) out.store(4 + i, words.w[i]);
    out.store(8, static_cast<uint32_t>(in.cast<const int8_t>().load(2)));
  }
};

struct SharedAccess {
  static constexpr const char* kName = "shared_access";
  static constexpr int kRounds = 1, kIn = 4, kOut = 8;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot slots) {
    const int me = simt::thread();
    slots.store(me, in.cast<const Words4>().load());
    slots.cast<uint64_t>().store(2 * (kThreads + me), in.cast<const uint64_t>().load(1));
    slots.cast<uint32_t>().store(4 * (kThreads + me) + 2, in.load(0));
    slots.cast<uint32_t>().store(4 * (kThreads + me) + 3, in.load(1));
    simt::sync_threads();
    const int other = kThreads - 1 - me;
    const Words4 words = slots.load(other);
    for (int i = 0; i < 4; ++i) out.store(i, words.w[i]);
    for (int i = 0; i < 4; ++i) {
      out.store(4 + i, slots.cast<uint32_t>().load(4 * (kThreads + other) + i));
    }
  }
};

struct Shuffles {
  static constexpr const char* kName = "shuffles";
  static constexpr int kRounds = 8, kIn = 2, kOut = 4;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    const uint32_t value = in.load(0);
    out.store(0, simt::shuffle(value, static_cast<int>(in.load(1) % 32)));
    out.store(1, simt::shuffle_xor(value, 1));
    out.store(2, simt::shuffle_xor(value, 31));
    out.store(3, as_bits(simt::shuffle(as_float(value), simt::lane() / 4)));
  }
};

/// Every source size from 0 to 16, two groups in flight.
struct AsyncCopies {
  static constexpr const char* kName = "cp_async";
  static constexpr int kRounds = 2, kIn = 4, kOut = 8;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot slots) {
    const int me = simt::thread();
    simt::cp_async_16(slots + me, in.cast<const std::byte>(), me % 17);
    simt::cp_async_commit();
    simt::cp_async_16(slots + (kThreads + me), in.cast<const std::byte>());
    simt::cp_async_commit();
    simt::cp_async_wait<1>();
    const Words4 first = slots.load(me);
    simt::cp_async_wait<0>();
    simt::sync_threads();
    const Words4 second = slots.load(kThreads + (me + 1) % kThreads);
    for (int i = 0; i < 4; ++i) out.store(i, first.w[i]);
    for (int i = 0; i < 4; ++i) out.store(4 + i, second.w[i]);
  }
};

struct Ldmatrix {
  static constexpr const char* kName = "ldmatrix_x4";
  static constexpr int kRounds = 4, kIn = 4, kOut = 4;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot slots) {
    slots.store(simt::thread(), in.cast<const Words4>().load());
    simt::sync_threads();
    // Row addresses in an order of their own, over the slots of both warps.
    const int row = (simt::thread() * 5 + 3) % kThreads;
    const Words4 words = simt::ldmatrix_x4((slots + row).cast<const Words4>());
    for (int i = 0; i < 4; ++i) out.store(i, words.w[i]);
  }
};

struct MmaS8 {
  static constexpr const char* kName = "mma_m16n8k16_s8";
  static constexpr int kRounds = 32, kIn = 7, kOut = 4;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    simt::FragmentC c;
    for (int i = 0; i < 4; ++i) c.c[i] = static_cast<int32_t>(in.load(3 + i));
    simt::mma_m16n8k16_s8(c, {in.load(0), in.load(1)}, in.load(2));
    for (int i = 0; i < 4; ++i) out.store(i, static_cast<uint32_t>(c.c[i]));
  }
};

struct Dp4a {
  static constexpr const char* kName = "dp4a";
  static constexpr int kRounds = 16, kIn = 3, kOut = 1;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    const int32_t c = static_cast<int32_t>(in.load(2));
    out.store(0, static_cast<uint32_t>(simt::dp4a(in.load(0), in.load(1), c)));
  }
};

PLANEGATE_DEVICE uint32_t one_nan(uint32_t halves) {
  const auto one = [](uint32_t half) { return (half & 0x7FFFu) > 0x7C00u ? 0x7FFFu : half; };
  return one(halves & 0xFFFFu) | one(halves >> 16) << 16;
}

struct HalfArithmetic {
  static constexpr const char* kName = "half2_arithmetic";
  static constexpr int kRounds = 64, kIn = 2, kOut = 3;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    const uint32_t a = in.load(0);
    const uint32_t b = in.load(1);
    out.store(0, one_nan(simt::half2_add(a, b)));
    out.store(1, one_nan(simt::half2_mul(a, b)));
    // Around the range of f16, where most patterns of an f32 are not.
    const float near = as_float((a & 0x87FFFFFFu) | 0x38000000u);
    out.store(2, one_nan(simt::float_to_half2(as_float(b), near)));
  }
};

struct BytePermute {
  static constexpr const char* kName = "byte_permute";
  static constexpr int kRounds = 8, kIn = 3, kOut = 1;
  static PLANEGATE_DEVICE void run(In in, Out out, Slot) {
    out.store(0, simt::byte_permute(in.load(0), in.load(1), in.load(2)));
  }
};

/// Small integers, so that every sum is exact: how a tensor core rounds is no part of the dialect.
/// The second product adds to the first; both read a tile that all threads wrote.
template <int kColumns>
struct Wgmma {
  static constexpr const char* kName =
      kColumns == 128 ? "wgmma_m64n128k16_f16" : "wgmma_m64n256k16_f16";
  static constexpr int kThreads = 128;
  static constexpr int kMinBlocks = 1;
  static constexpr int kTilePieces = kColumns * 8;
  static constexpr int kSums = kColumns / 2;
  static constexpr int64_t kIn = int64_t{kThreads} * 16;
  static constexpr int64_t kOut = int64_t{kThreads} * kSums;
  struct alignas(1024) Shared {
    Words4 before[64];  // the tile need not be the first
    Words4 tile[kTilePieces];
  };
  using Args = conformance::Args;

  static PLANEGATE_DEVICE uint32_t small(uint32_t word) {
    const auto value = [](uint32_t nibble) { return static_cast<float>(nibble & 15u) - 7.0f; };
    return simt::float_to_half2(value(word), value(word >> 4));
  }
  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    const auto in = args.in + simt::thread() * 16;
    const auto tile = shared.at(&Shared::tile);
    for (int i = 0; i < kTilePieces / kThreads; ++i) {
      Words4 piece;
      const uint32_t bits = in.load(i % 8) ^ static_cast<uint32_t>(i / 8) * 0x9E3779B9u;
      for (uint32_t word = 0; word < 4; ++word) piece.w[word] = small(bits >> 8 * word);
      tile.store(i * kThreads + simt::thread(), piece);
    }
    Words4 a[2];
    for (int i = 0; i < 8; ++i) a[i / 4].w[i % 4] = small(in.load(8 + i));
    simt::fence_async();
    simt::sync_threads();
    float sum[kSums] = {};
    const auto read = tile.template cast<const Words4>();
    simt::wgmma_fence();
    simt::wgmma_m64k16_f16(sum, a[0], read, 1, false);
    simt::wgmma_m64k16_f16(sum, a[1], read, 2, true);
    simt::wgmma_commit();
    simt::wgmma_wait<0>();
    for (const Words4& operand : a) simt::wgmma_release(operand);
    for (int i = 0; i < kSums; ++i) {
      args.out.store(simt::thread() * kSums + i, as_bits(sum[i]));
    }
  }
};

/// Two phases of one barrier: a copy of each half of the input, each half read in turn.
struct BulkCopies {
  static constexpr const char* kName = "bulk_copies";
  static constexpr int kThreads = 128;
  static constexpr int kMinBlocks = 1;
  static constexpr int kPieces = kThreads;
  static constexpr int64_t kIn = 2 * kPieces * 4;
  static constexpr int64_t kOut = kIn;
  struct alignas(1024) Shared {
    Words4 to[kPieces];
    simt::Barrier full[1];
  };
  using Args = conformance::Args;

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    const auto full = shared.at(&Shared::full);
    const auto to = shared.at(&Shared::to);
    if (simt::thread() == 0) {
      simt::barrier_init(full, 1);
      simt::fence_async();
    }
    simt::sync_threads();
    for (int phase = 0; phase < 2; ++phase) {
      if (simt::thread() == 0) {
        simt::barrier_arrive_expect(full, kPieces * 16);
        simt::bulk_copy(to, args.in.template cast<const Words4>() + phase * kPieces, kPieces * 16,
                        full);
      }
      simt::barrier_wait(full, phase);
      args.out.template cast<Words4>().store(phase * kPieces + simt::thread(),
                                             to.load(simt::thread()));
      simt::sync_threads();
    }
  }
};

/// An operation whose kernel brings its own shared memory.
template <class Operation_>
Operation whole_block() {
  return {Operation_::kName, Operation_::kIn, Operation_::kOut,
          [](Device& device, const DeviceBuffer& in, const DeviceBuffer& out) {
            simt::Binder binder(device);
            binder.launch<Operation_>(
                {1, 1}, {binder.pointer<const uint32_t>(in), binder.pointer<uint32_t>(out)});
          }};
}

template <class Body>
Operation operation() {
  constexpr int64_t threads = int64_t{Body::kRounds} * kThreads;
  return {Body::kName, threads * Body::kIn, threads * Body::kOut,
          [](Device& device, const DeviceBuffer& in, const DeviceBuffer& out) {
            simt::Binder binder(device);
            binder.launch<Kernel<Body>>(
                {1, 1}, {binder.pointer<const uint32_t>(in), binder.pointer<uint32_t>(out)});
          }};
}

inline std::vector<Operation> all_operations() {
  return {operation<Coordinates>(), operation<HalfToFloat>(),  operation<PackBytes>(),
          operation<Arithmetic>(),  operation<Loads>(),        operation<SharedAccess>(),
          operation<Shuffles>(),    operation<AsyncCopies>(),  operation<Ldmatrix>(),
          operation<MmaS8>(),       operation<Dp4a>(),         operation<HalfArithmetic>(),
          operation<BytePermute>(), whole_block<BulkCopies>(), whole_block<Wgmma<128>>(),
          whole_block<Wgmma<256>>()};
}

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::conformance
