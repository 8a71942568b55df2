#pragma once

#include <vector>

#include <planegate/devices/device.h>
#include <planegate/simt/bind.h>

#include "kernels/q6_k/codes.h"

/// Transforms that run on the device: the file's blocks in, a plane out.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::PlanePtr;
using simt::SharedRef;

/// What MakeWExp and MakeWDsc do beside addressing planes through their contracts, one policy each.
struct MakePolicies {
  /// Raw blocks as they lie in the file.
  using Source = formats::Raw;
  static constexpr int kBlockBytes = formats::kBlockBytes;
  /// All copies of a block of threads have arrived, for all of its threads.
  static PLANEGATE_DEVICE void arrived() {
    simt::cp_async_wait<0>();
    simt::sync_threads();
  }
  static PLANEGATE_DEVICE void stored() { simt::sync_threads(); }
  /// Super-blocks and rows beyond the plane are not made.
  static PLANEGATE_DEVICE bool covers(int64_t at, int64_t count) { return at < count; }
  /// Rows of w_dsc: an odd number is filled up with zeros.
  static PLANEGATE_DEVICE int64_t rows(int64_t od) { return od + od % 2; }
  static PLANEGATE_DEVICE Words4 centred(const Words4& codes) { return Expand16::centred(codes); }
};

/// w_exp: super-blocks lie back to back in both planes, whatever their row. A block of threads
/// brings 64 of them to shared memory as they lie; a thread makes 64 codes, elements k, k+32, k+64
/// and k+96 and the 15 behind each, which share bytes of ql and qh.
template <class Policies = MakePolicies>
struct MakeWExp {
  using From = typename Policies::Source;
  using To = formats::WExp;
  static constexpr const char* kName = "w_exp from raw";
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr int kBlocks = kThreads / 4;
  static constexpr int kBlockBytes = Policies::kBlockBytes;
  static_assert(kBlocks * kBlockBytes % 16 == 0, "every block of threads starts aligned");

  struct Shared {
    Words4 raw[kBlocks * kBlockBytes / 16];
  };
  struct Args {
    PlanePtr<From> from;
    PlanePtr<To, std::byte> to;
    int nsb;
    int blocks;  ///< super-blocks of all rows
  };

  static simt::Grid grid(const Shape& s) { return {(s.od() * s.nsb() + kBlocks - 1) / kBlocks, 1}; }
  static Args bind(const MakeRequest& request, simt::Binder& binder) {
    const int64_t blocks = request.shape.od() * request.shape.nsb();
    require(blocks <= INT32_MAX, "od * nsb", blocks, "at most 2^31-1 super-blocks");
    return {simt::bind_source<formats::Raw, From>(request, binder),
            simt::bind_made<To>(request, binder), static_cast<int>(request.shape.nsb()),
            static_cast<int>(blocks)};
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    const int first = simt::block_x() * kBlocks;
    bring(args, shared, first);
    Policies::arrived();
    const int block = first + simt::thread() / 4;
    if (!Policies::covers(block, args.blocks)) return;
    const int row = block / args.nsb;
    const int64_t k = block % args.nsb * kSuperBlockElems + simt::thread() % 4 / 2 * 128 +
                      simt::thread() % 2 * 16;
    const int64_t start = offset_of(args, first);
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int64_t at = k + 32 * i;
      const Words4 low = piece<typename From::Ql>(args, shared, start, row, at);
      const Words4 high = piece<typename From::Qh>(args, shared, start, row, at);
      const Words4 codes =
          Expand16::joined(low, args.from.template shift<typename From::Ql>(row, at), high,
                           args.from.template shift<typename From::Qh>(row, at));
      args.to.template at<typename To::Codes>(row, at).template cast<Words4>().store(
          0, Policies::centred(codes));
    }
  }

 private:
  static PLANEGATE_DEVICE int64_t offset_of(const Args& args, int block) {
    return args.from.template offset_bytes<typename From::Ql>(block / args.nsb,
                                                              block % args.nsb * kSuperBlockElems);
  }

  static PLANEGATE_DEVICE void bring(const Args& args, SharedRef<Shared> shared, int first) {
    const int left = args.blocks - first;
    const int bytes = (left < kBlocks ? left : kBlocks) * kBlockBytes;
    const auto from = args.from.template at<typename From::Ql>(first / args.nsb,
                                                               first % args.nsb * kSuperBlockElems);
    for (int at = simt::thread() * 16; at < bytes; at += kThreads * 16) {
      simt::cp_async_16(shared.at(&Shared::raw) + at / 16, from + at,
                        bytes - at < 16 ? bytes - at : 16);
    }
    simt::cp_async_commit();
  }

  /// The 16 bytes that hold elements k..k+15 of a field; shared memory begins with byte `start` of
  /// the plane. They lie at an even address.
  template <class Field>
  static PLANEGATE_DEVICE Words4 piece(const Args& args, SharedRef<Shared> shared, int64_t start,
                                       int64_t row, int64_t k) {
    const auto at = static_cast<int>(args.from.template offset_bytes<Field>(row, k) - start);
    const auto words = shared.at(&Shared::raw).template cast<const uint32_t>() + at / 4;
    const uint32_t selector = at % 4 == 0 ? 0x3210u : 0x5432u;
    uint32_t low = words.load(0);
    Words4 out;
    PLANEGATE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const uint32_t high = words.load(i + 1);
      out.w[i] = simt::byte_permute(low, high, selector);
      low = high;
    }
    return out;
  }
};

/// w_dsc: d*sc in f32, which is exact. A block of threads makes the scales of 32 rows and 8
/// super-blocks, a thread those of one super-block; they turn round in shared memory, since the
/// plane has the rows of a chunk side by side.
template <class Policies = MakePolicies>
struct MakeWDsc {
  using From = typename Policies::Source;
  using To = formats::WDsc;
  static constexpr const char* kName = "w_dsc from raw";
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr int kRows = 32;
  static constexpr int kBlocks = kThreads / kRows;
  static constexpr int kChunkElems = 32;
  static constexpr int kChunksOfBlock = kSuperBlockElems / kChunkElems;
  static constexpr int kChunks = kBlocks * kChunksOfBlock;
  static constexpr int kPitch = kRows + 1;  ///< of a chunk: rows of other banks

  /// The two products of a chunk.
  struct alignas(8) Pair {
    float of[2];
  };
  struct Shared {
    Pair pairs[kChunks * kPitch];  // (chunk, row)
  };
  struct Args {
    PlanePtr<From> from;
    PlanePtr<To, std::byte> to;
    int64_t od, nsb;
  };

  static simt::Grid grid(const Shape& s) {
    return {(s.od() + kRows - 1) / kRows, (s.nsb() + kBlocks - 1) / kBlocks};
  }
  static Args bind(const MakeRequest& request, simt::Binder& binder) {
    return {simt::bind_source<formats::Raw, From>(request, binder),
            simt::bind_made<To>(request, binder), request.shape.od(), request.shape.nsb()};
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared> shared) {
    const int64_t row0 = static_cast<int64_t>(simt::block_x()) * kRows;
    const int64_t sb0 = static_cast<int64_t>(simt::block_y()) * kBlocks;
    multiply(args, shared.at(&Shared::pairs), row0, sb0);
    Policies::stored();
    for (int i = simt::thread(); i < kChunks * kRows; i += kThreads) {
      const int chunk = i / kRows;
      const int64_t row = row0 + i % kRows;
      const int64_t k = sb0 * kSuperBlockElems + chunk * kChunkElems;
      if (!Policies::covers(row, Policies::rows(args.od)) || k >= args.nsb * kSuperBlockElems) {
        continue;
      }
      args.to.template at<typename To::Dsc>(row, k).template cast<Pair>().store(
          0, shared.at(&Shared::pairs).load(chunk * kPitch + i % kRows));
    }
  }

 private:
  static PLANEGATE_DEVICE void multiply(const Args& args, SharedPtr<Pair> pairs, int64_t row0,
                                        int64_t sb0) {
    const int row = simt::thread() / kBlocks;
    const int block = simt::thread() % kBlocks;
    const int64_t k = (sb0 + block) * kSuperBlockElems;
    const bool valid = row0 + row < args.od && sb0 + block < args.nsb;
    float d = 0.0f;
    if (valid) {
      d = simt::half_to_float(args.from.template bits<typename From::D>(row0 + row, k));
    }
    PLANEGATE_UNROLL
    for (int i = 0; i < kChunksOfBlock; ++i) {
      Pair pair = {};
      if (valid) {
        const uint32_t sc =
            args.from.template at<typename From::Sc>(row0 + row, k + kChunkElems * i)
                .template cast<const uint16_t>()
                .load();
        pair.of[0] = d * static_cast<float>(static_cast<int8_t>(sc));
        pair.of[1] = d * static_cast<float>(static_cast<int8_t>(sc >> 8));
      }
      pairs.store((block * kChunksOfBlock + i) * kPitch + row, pair);
    }
  }
};

/// The transforms of q6_K. A new one is a kernel here and its name in `Makers`.
template <class... Kernel>
struct MakerList {};
using Makers = MakerList<MakeWExp<>, MakeWDsc<>>;

template <class Kernel>
void make(Device& device, const MakeRequest& request) {
  simt::Binder binder(device);
  binder.launch<Kernel>(Kernel::grid(request.shape), Kernel::bind(request, binder));
}
template <class... Kernel>
std::vector<MakeFn> makes(MakerList<Kernel...>) {
  return {&make<Kernel>...};
}
/// The specs of a list with the host's launches.
template <class... Kernel>
std::vector<DeviceProducerSpec> described(MakerList<Kernel...>) {
  return {{Kernel::kName,
           &describe<formats::Raw>(),
           &describe<typename Kernel::To>(),
           {{DeviceKind::kHost, &make<Kernel>}}}...};
}

}  // namespace PLANEGATE_SIMT_ABI

std::vector<MakeFn> cuda_makers();
std::vector<MakeFn> bad_makers_cuda();

}  // namespace planegate::kernels::q6_k
