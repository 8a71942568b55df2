#pragma once

#include <planegate/simt/dialect.h>

/// Policies: how a 16-byte piece gets from global to shared memory. Pieces that lie in tail rows
/// (`valid` false) are filled with zeros and not read.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::GlobalPtr;
using simt::SharedPtr;
using simt::Words4;

/// Sixteen one-byte loads.
struct Bytewise {
  static constexpr const char* kName = "bytewise";
  static constexpr const char* kTail = "zero by select";

  static PLANEGATE_DEVICE void copy(SharedPtr<Words4> to, GlobalPtr<const std::byte> from,
                                    bool valid) {
    Words4 piece = {};
    if (valid) {
      const auto bytes = from.cast<const uint8_t>();
      PLANEGATE_UNROLL
      for (int i = 0; i < 4; ++i) {
        piece.w[i] = simt::pack_bytes(bytes.load(4 * i), bytes.load(4 * i + 1),
                                      bytes.load(4 * i + 2), bytes.load(4 * i + 3));
      }
    }
    to.store(0, piece);
  }
};

/// One 16-byte load.
struct Copy16 {
  static constexpr const char* kName = "16-byte load";
  static constexpr const char* kTail = "zero by select";

  static PLANEGATE_DEVICE void copy(SharedPtr<Words4> to, GlobalPtr<const std::byte> from,
                                    bool valid) {
    Words4 piece = {};
    if (valid) piece = from.cast<const Words4>().load();
    to.store(0, piece);
  }
};

/// cp.async, tail rows by source size 0.
struct CpAsync16 {
  static constexpr const char* kName = "cp.async";
  static constexpr const char* kTail = "zero by source size 0";

  static PLANEGATE_DEVICE void copy(SharedPtr<Words4> to, GlobalPtr<const std::byte> from,
                                    bool valid) {
    simt::cp_async_16(to, from, valid ? 16 : 0);
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
