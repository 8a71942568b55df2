#include "oracle/q6_k/mirror.h"

#include <cstring>

#include <planegate/formats/q6_k/contracts.h>

#include "oracle/parallel.h"
#include "oracle/preconditions.h"
#include "oracle/q6_k/block.h"

namespace planegate::oracle::q6_k {

using planegate::q6_k::kBlockBytes;
using planegate::q6_k::kCentre;
using planegate::q6_k::kFormat;

int64_t size_bytes(const Shape& shape) {
  return shape.od() * (shape.nsb() * kBlockBytes);
}

void mirror_raw(const RawTensor& raw, std::span<std::byte> plane) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_plane(describe<planegate::q6_k::Raw>(), raw.shape, plane);
  const int64_t nsb = raw.shape.nsb();
  const int64_t row_bytes = nsb * kBlockBytes;
  for_ranges(raw.shape.od(), grain_of(raw.shape.od(), row_bytes), [&](int64_t row, int64_t end) {
    const std::byte* from = raw.bytes.data() + row * row_bytes;
    std::byte* to = plane.data() + row * row_bytes;
    for (; row < end; ++row) {
      for (int64_t sb = 0; sb < nsb; ++sb) {
        std::memcpy(to, from, kBlockBytes);
        from += kBlockBytes;
        to += kBlockBytes;
      }
    }
  });
}

void mirror_w_exp(const RawTensor& raw, std::span<std::byte> plane) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_plane(describe<planegate::q6_k::WExp>(), raw.shape, plane);
  const int64_t nsb = raw.shape.nsb();
  const int64_t id = raw.shape.id();
  for_ranges(raw.shape.od(), grain_of(raw.shape.od(), id), [&](int64_t row, int64_t end) {
    const std::byte* from = raw.bytes.data() + row * (nsb * kBlockBytes);
    std::byte* to = plane.data() + row * id;
    uint8_t codes[kBlockElems];
    for (; row < end; ++row) {
      for (int64_t sb = 0; sb < nsb; ++sb) {
        decode_codes(from, codes);
        from += kBlockBytes;
        for (const uint8_t code : codes) *to++ = static_cast<std::byte>(code - kCentre);
      }
    }
  });
}

}  // namespace planegate::oracle::q6_k
