#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/producers/q8_act/quantise.h>

namespace planegate::producers::q8_act {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
/// The smallest f32 that rounds to an infinite f16.
constexpr float kFirstInfinite = 65520.0f;

/// f32 -> f16, round to nearest even. @pre 0 <= value < kFirstInfinite
uint16_t f16_of(float value) {
  constexpr float kSmallestNormal = 0x1p-14f;
  // An ulp of 0.5f is 2^-24, the spacing of f16 subnormals: the addition rounds.
  if (value < kSmallestNormal) {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(value + 0.5f) -
                                 std::bit_cast<uint32_t>(0.5f));
  }
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0xfff + ((bits >> 13) & 1);
  return static_cast<uint16_t>((rounded - (112u << 23)) >> 13);
}

/// Nearest even, within -128..127. Adding 1.5 * 2^23 rounds in the f32 adder, in every SIMD lane.
int8_t code_of(float x, float reciprocal) {
  constexpr float kRounder = 12582912.0f;
  const float scaled = std::clamp(x * reciprocal, -128.0f, 127.0f);
  return static_cast<int8_t>((scaled + kRounder) - kRounder);
}

/// token*id + k of the first element that has no finite f16 scale, else kNone.
int64_t first_beyond_f16(const RawTensor& raw) {
  const int64_t elems = raw.shape.nt() * raw.shape.id();
  int64_t first = kNone;
#pragma omp parallel for schedule(static) reduction(min : first)
  for (int64_t i = 0; i < elems; ++i) {
    float x = 0;
    std::memcpy(&x, raw.bytes.data() + i * kElemBytes, sizeof(x));
    if (!(std::fabs(x) / 127.0f < kFirstInfinite)) first = std::min(first, i);
  }
  return first;
}

}  // namespace

int32_t Chunk::sum() const {
  int32_t sum = 0;
  for (const int8_t code : codes) sum += code;
  return sum;
}

Chunk quantise(const std::byte* from) {
  std::array<float, planegate::q8_act::kChunkElems> x;
  std::memcpy(x.data(), from, sizeof(x));
  float largest = 0;
  for (const float v : x) largest = std::max(largest, std::fabs(v));
  const float scale = largest / 127.0f;
  // Of a zero or tiny scale there is no reciprocal: all codes are 0, as the scale is in f16.
  const float inverse = 1.0f / scale;
  const float reciprocal = std::isinf(inverse) ? 0.0f : inverse;
  Chunk chunk;
  chunk.scale_f16 = f16_of(scale);
  for (size_t i = 0; i < x.size(); ++i) chunk.codes[i] = code_of(x[i], reciprocal);
  return chunk;
}

void require_input(const RawTensor& raw, const Contract& plane, std::span<std::byte> out) {
  if (raw.format != kFrom) throw ContractError("raw.format", raw.format, kFrom);
  const int64_t raw_bytes = raw.shape.nt() * raw.shape.id() * kElemBytes;
  const int64_t plane_bytes = plane.size_bytes(raw.shape);
  require(std::ssize(raw.bytes) == raw_bytes, "raw.bytes.size()", std::ssize(raw.bytes),
          fmt::format("{} bytes at {}", raw_bytes, raw.shape.text()));
  require(std::ssize(out) == plane_bytes, "plane.size()", std::ssize(out),
          fmt::format("{} bytes at {}", plane_bytes, raw.shape.text()));
  const int64_t first = first_beyond_f16(raw);
  if (first == kNone) return;
  float value = 0;
  std::memcpy(&value, raw.bytes.data() + first * kElemBytes, sizeof(value));
  throw ContractError(
      fmt::format("x[token {}, k {}]", first / raw.shape.id(), first % raw.shape.id()),
      fmt::format("{}", value), "finite, and |x|/127 finite as f16");
}

}  // namespace planegate::producers::q8_act
