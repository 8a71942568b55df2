#pragma once

#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/bind.h>
#include <planegate/simt/stamp.h>

#include "kernels/q6_k/known_bad/by_layout.h"

namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::GlobalPtr;
using simt::SharedRef;
using simt::Words4;

/// Y (nt, od), one lane an element, f32 sequential over k, every address from a FlatLayout.
struct ByLayout {
  static constexpr int kThreads = 32;
  static constexpr int kMinBlocks = 1;

  struct Shared {};
  struct Source {
    GlobalPtr<const std::byte> base;
    int64_t size_bytes = 0;
    FlatLayout layout;
    int bits = 0;  ///< of one value; 0: this source is not used

    /// The value of (line, k) at the bottom of a word; addresses wrap inside the plane.
    PLANEGATE_DEVICE uint32_t read(int64_t line, int64_t k) const {
      const int64_t at = layout.offset_bits(line, k);
      const auto bytes = base.cast<const uint8_t>();
      uint32_t word = 0;
      for (int i = 0; i < (bits + 7) / 8; ++i) {
        const int64_t wrapped = ((at >> 3) + i) % size_bytes;
        word |= uint32_t{bytes.load(wrapped < 0 ? wrapped + size_bytes : wrapped)} << 8 * i;
      }
      return bits >= 8 ? word : (word >> (at & 7)) & ((1u << bits) - 1u);
    }
  };

  struct Args {
    Source sources[kLayoutSources];
    GlobalPtr<float> y;        // (nt, od)
    GlobalPtr<Words4> stamps;  // (blocks) or null
    Words4 stamp;
    int64_t od, id, nt;
  };

  static simt::Grid grid(const Shape& shape) {
    return {(shape.od() * shape.nt() + kThreads - 1) / kThreads, 1};
  }

  static Args bind(const LaunchRequest& request, simt::Binder& binder, const SourceFields& fields,
                   const Relayout& relayout, uint32_t instance) {
    const Shape& shape = request.shape;
    Args args{{},         binder.pointer<float>(*request.y),
              {},         simt::stamp_words(instance, request.planes.front()),
              shape.od(), shape.id(),
              shape.nt()};
    if (request.stamps != nullptr) args.stamps = binder.pointer<Words4>(*request.stamps);
    for (int i = 0; i < kLayoutSources; ++i) {
      const SourceField& from = fields[static_cast<size_t>(i)];
      if (from.plane == nullptr) continue;
      for (const BoundPlane& plane : request.planes) {
        if (plane.contract != from.plane) continue;
        FlatLayout layout = flatten(from.field->layout, shape);
        if (relayout) relayout(*from.plane, *from.field, shape, layout);
        args.sources[i] = {binder.pointer<const std::byte>(*plane.buffer),
                           plane.buffer->size_bytes(), layout, from.field->bits};
      }
    }
    return args;
  }

  static PLANEGATE_DEVICE void run(const Args& args, SharedRef<Shared>) {
    simt::leave_stamp(args.stamps, args.stamp);
    const int64_t element = static_cast<int64_t>(simt::block_x()) * kThreads + simt::thread();
    if (element >= args.od * args.nt) return;
    const int64_t token = element / args.od;
    const int64_t row = element % args.od;
    float sum = 0;
    for (int64_t k = 0; k < args.id; ++k) {
      const auto x = static_cast<int8_t>(args.sources[kActCodes].read(token, k));
      const float d_x = simt::half_to_float(args.sources[kActScale].read(token, k));
      const int dot = code(args, row, k) * x;
      sum += static_cast<float>(dot) * (scale(args, row, k) * d_x);
    }
    args.y.store(element, sum);
  }

 private:
  static PLANEGATE_DEVICE int code(const Args& args, int64_t row, int64_t k) {
    const uint32_t low = args.sources[kLow].read(row, k);
    if (args.sources[kHigh].bits == 0) return static_cast<int8_t>(low);
    const uint32_t high = args.sources[kHigh].read(row, k);
    return static_cast<int>(low | high << 4) - planegate::q6_k::kCentre;
  }
  static PLANEGATE_DEVICE float scale(const Args& args, int64_t row, int64_t k) {
    const uint32_t word = args.sources[kScale].read(row, k);
    if (args.sources[kSubScale].bits == 0) {
      float product;
      memcpy(&product, &word, sizeof product);
      return product;
    }
    const auto sc = static_cast<int8_t>(args.sources[kSubScale].read(row, k));
    return simt::half_to_float(word) * static_cast<float>(sc);
  }
};

inline void launch_by_layout(Device& device, const LaunchRequest& request,
                             const SourceFields& sources, const Relayout& relayout,
                             uint32_t instance) {
  simt::Binder binder(device);
  binder.launch<ByLayout>(ByLayout::grid(request.shape),
                          ByLayout::bind(request, binder, sources, relayout, instance));
}

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
