#include "oracle/q8_act/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include <planegate/formats/q8_act/contracts.h>

#include "oracle/half.h"
#include "oracle/parallel.h"
#include "oracle/preconditions.h"
#include "oracle/q8_act/mirror.h"

namespace planegate::oracle::q8_act {
namespace {

using planegate::q8_act::kChunkBytes;
using planegate::q8_act::kChunkElems;

std::string place(const char* what, int64_t token, int64_t k) {
  return std::string(what) + "[token " + std::to_string(token) + ", k " + std::to_string(k) + "]";
}

float largest_magnitude(const float* x, int64_t token, int64_t k) {
  float amax = 0;
  for (int64_t e = 0; e < kChunkElems; ++e) {
    if (!std::isfinite(x[e])) {
      throw ContractError(place("x", token, k + e), std::to_string(x[e]), "not finite");
    }
    amax = std::max(amax, std::fabs(x[e]));
  }
  return amax;
}

void quantise_chunk(const float* x, int64_t token, int64_t k, std::byte* to) {
  const float amax = largest_magnitude(x, token, k);
  const float scale = amax / 127.0f;
  const uint16_t d_bits = f32_to_f16(scale);
  if (!f16_is_finite(d_bits)) {
    throw ContractError(place("amax", token, k), std::to_string(amax),
                        "amax/127 is beyond the largest f16");
  }
  store_f16(d_bits, to);
  to += sizeof d_bits;
  const float inverse = 1.0f / scale;
  const float reciprocal = std::isfinite(inverse) ? inverse : 0.0f;
  for (int64_t e = 0; e < kChunkElems; ++e) {
    const float nearest = std::nearbyint(x[e] * reciprocal);
    const float code = std::min(127.0f, std::max(-128.0f, nearest));
    *to++ = static_cast<std::byte>(static_cast<int8_t>(code));
  }
}

}  // namespace

std::vector<std::byte> quantise(const RawTensor& f32) {
  const Shape& shape = f32.shape;
  const int64_t line_bytes = size_bytes(shape) / shape.nt();
  require_tensor(f32, "f32", shape.nt() * shape.id() * int64_t{sizeof(float)});
  std::vector<std::byte> chunks(static_cast<size_t>(size_bytes(shape)));
  for_ranges(shape.nt(), grain_of(shape.nt(), shape.id()), [&](int64_t token, int64_t end) {
    const std::byte* from = f32.bytes.data() + token * shape.id() * int64_t{sizeof(float)};
    std::byte* to = chunks.data() + token * line_bytes;
    float x[kChunkElems];
    for (; token < end; ++token) {
      for (int64_t k = 0; k < shape.id(); k += kChunkElems) {
        std::memcpy(x, from, sizeof x);
        quantise_chunk(x, token, k, to);
        from += sizeof x;
        to += kChunkBytes;
      }
    }
  });
  return chunks;
}

}  // namespace planegate::oracle::q8_act
