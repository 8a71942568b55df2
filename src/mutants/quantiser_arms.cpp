#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <planegate/formats/q8_act/contracts.h>

#include "mutants/plane_edits.h"

/// Producers of activation planes that quantise in another way.
namespace planegate::mutants {
namespace {

using q8_act::kChunkElems;
using q8_act::Pad40;
using q8_act::Qa8;
using q8_act::Sda;

using Elements = std::array<float, kChunkElems>;

/// The elements of the chunk that `at` lies in. @pre raw is f32
Elements chunk_of(const RawTensor& raw, Place at) {
  Elements x;
  const int64_t first = at.line * raw.shape.id() + at.k / kChunkElems * kChunkElems;
  std::memcpy(x.data(), raw.bytes.data() + first * int64_t{sizeof(float)}, sizeof x);
  return x;
}

float element_of(const RawTensor& raw, Place at) {
  return chunk_of(raw, at)[static_cast<size_t>(at.k % kChunkElems)];
}

float amax_of(const RawTensor& raw, Place at) {
  float amax = 0;
  for (const float x : chunk_of(raw, at)) amax = std::max(amax, std::fabs(x));
  return amax;
}

uint32_t coded(float value, float largest = 127.0f) {
  return static_cast<uint32_t>(static_cast<int32_t>(std::clamp(value, -largest - 1, largest)));
}

float f16_of(float value) {
  return static_cast<float>(static_cast<_Float16>(value));
}

uint32_t f16_bits(float value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

float scaled(const RawTensor& raw, Place at) {
  return element_of(raw, at) * (1.0f / (amax_of(raw, at) / 127.0f));
}

uint32_t truncated(const RawTensor& raw, Place at) {
  return coded(std::trunc(scaled(raw, at)));
}
uint32_t half_away(const RawTensor& raw, Place at) {
  return coded(std::round(scaled(raw, at)));
}
uint32_t by_rounded_scale(const RawTensor& raw, Place at) {
  return coded(std::nearbyint(element_of(raw, at) * (1.0f / f16_of(amax_of(raw, at) / 127.0f))));
}
uint32_t clamped_at_126(const RawTensor& raw, Place at) {
  return coded(std::nearbyint(scaled(raw, at)), 126.0f);
}
uint32_t by_largest_signed(const RawTensor& raw, Place at) {
  const Elements x = chunk_of(raw, at);
  const float largest = *std::max_element(x.begin(), x.end());
  return coded(std::nearbyint(element_of(raw, at) * (1.0f / (largest / 127.0f))));
}

uint32_t amax_by_128(const RawTensor& raw, Place at) {
  return f16_bits(amax_of(raw, at) / 128.0f);
}
/// f32 cut to f16 by dropping bits.
uint32_t scale_truncated(const RawTensor& raw, Place at) {
  const float scale = amax_of(raw, at) / 127.0f;
  return f16_bits(std::bit_cast<float>(std::bit_cast<uint32_t>(scale) & 0xFFFFE000u));
}

PlaneEdit codes(uint32_t (*value)(const RawTensor&, Place)) {
  return recomputed(describe<Qa8>(), "codes", value);
}

}  // namespace

std::vector<gates::Arm> quantiser_arms() {
  const Shape tail{16, 512, 9}, three{16, 512, 3};
  const char* const gemm = "w_exp/cp_async";
  return {
      producer_arm("qa8", gemm,
                   {"rounded toward zero",
                    "sign/centering",
                    {"byte 0 = token 0, k 0 (codes)"},
                    codes(truncated),
                    tail}),
      producer_arm("qa8", gemm,
                   {"halves rounded away from zero",
                    "sign/centering",
                    {"token 105, k 2697 (codes)", "1 of 360448 bytes differ"},
                    codes(half_away),
                    Shape{96, 2816, 106}}),
      producer_arm("qa8", gemm,
                   {"reciprocal of the rounded scale",
                    "sign/centering",
                    {"byte 39 = token 1, k 7 (codes)"},
                    codes(by_rounded_scale),
                    tail}),
      producer_arm("qa8", gemm,
                   {"clamped at 126",
                    "sign/centering",
                    {"byte 2 = token 0, k 2 (codes)"},
                    codes(clamped_at_126),
                    tail}),
      producer_arm("qa8", gemm,
                   {"scaled by the largest signed value",
                    "sign/centering",
                    {"byte 64 = token 2, k 0 (codes)"},
                    codes(by_largest_signed),
                    tail}),
      producer_arm("sda", gemm,
                   {"scale is amax/128",
                    "scale-plane-mismatch",
                    {"byte 0 = token 0, k 0 (d)"},
                    recomputed(describe<Sda>(), "d", amax_by_128),
                    tail}),
      producer_arm("pad40", "padded/decode",
                   {"scale cut to f16, not rounded",
                    "scale-plane-mismatch",
                    {"byte 80 = token 0, k 64 (d)"},
                    recomputed(describe<Pad40>(), "d", scale_truncated),
                    three}),
  };
}

}  // namespace planegate::mutants
