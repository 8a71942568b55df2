#include "oracle/q8_act/extremes.h"

#include <cmath>
#include <span>

#include <planegate/formats/q8_act/contracts.h>

#include "oracle/half.h"
#include "oracle/q8_act/quantise.h"

namespace planegate::oracle::q8_act {
namespace {

using planegate::q8_act::kChunkElems;

float sign(int64_t k) {
  return k % 2 == 0 ? 1.0f : -1.0f;
}

/// Token t of content t modulo their number, quantised.
std::vector<std::byte> tensor_of(const std::vector<ActivationContent>& contents,
                                 const Shape& shape) {
  std::vector<float> x;
  x.reserve(static_cast<size_t>(shape.nt() * shape.id()));
  for (int64_t token = 0; token < shape.nt(); ++token) {
    const auto& content = contents[static_cast<size_t>(token) % contents.size()];
    for (int64_t k = 0; k < shape.id(); ++k) x.push_back(content.value(k));
  }
  return quantise({"x", "f32", shape, std::as_bytes(std::span(x))});
}

/// Chunks of scale 1 whose codes are -128 and, at odd k, `odd`.
std::vector<std::byte> lowest_codes(int8_t odd, const Shape& shape) {
  std::vector<std::byte> bytes;
  for (int64_t chunk = 0; chunk < shape.nt() * shape.id() / kChunkElems; ++chunk) {
    bytes.resize(bytes.size() + sizeof(uint16_t));
    store_f16(f64_to_f16(1.0), bytes.data() + bytes.size() - sizeof(uint16_t));
    for (int64_t e = 0; e < kChunkElems; ++e) {
      bytes.push_back(static_cast<std::byte>(e % 2 == 0 ? int8_t{-128} : odd));
    }
  }
  return bytes;
}

}  // namespace

std::vector<ActivationContent> activation_contents() {
  const float tiny = 0x1p-149f;
  return {
      {"zero", [](int64_t) { return 0.0f; }},
      {"negative zero", [](int64_t) { return -0.0f; }},
      {"equal", [](int64_t) { return -3.7f; }},
      {"one-hot in the token", [](int64_t k) { return k == 77 ? 5.0f : 0.0f; }},
      {"one-hot in each chunk", [](int64_t k) { return k % 32 == k / 32 ? -0.3f : 0.0f; }},
      {"alternating", [](int64_t k) { return 1.7f * sign(k); }},
      {"zero chunks", [](int64_t k) { return k / 32 % 2 == 0 ? 0.0f : std::sin(float(k)); }},
      {"codes -127 to 127", [](int64_t k) { return static_cast<float>(k * 37 % 255 - 127); }},
      {"ties", [](int64_t k) { return k % 32 == 0 ? 127.0f : static_cast<float>(k % 32) - 0.5f; }},
      {"smallest subnormal", [=](int64_t k) { return tiny * sign(k); }},
      {"reciprocal overflows", [](int64_t k) { return 0x1.fp-122f * sign(k); }},
      {"reciprocal is just finite", [](int64_t k) { return 0x1.01p-121f * sign(k / 3); }},
      {"scale below f16", [](int64_t k) { return 1e-10f * sign(k / 5); }},
      {"scale ties to 0 in f16", [](int64_t k) { return 127 * 0x1p-25f * sign(k); }},
      {"smallest scale", [](int64_t k) { return 127 * 0x1p-24f * sign(k / 2); }},
      {"subnormal scale",
       [](int64_t k) { return 127 * 0x1p-18f / (1.0f + static_cast<float>(k % 7)); }},
      {"largest scale", [](int64_t k) { return 127 * 65504.0f * sign(k / 7); }},
      {"rounds to the largest scale", [](int64_t) { return 127 * 65519.0f; }},
      {"largest beside the smallest",
       [=](int64_t k) { return k % 3 == 0 ? 127 * 65504.0f : tiny; }},
  };
}

std::vector<Extreme> extremes() {
  const std::vector<ActivationContent> contents = activation_contents();
  std::vector<Extreme> all = {
      {"mixed", [contents](const Shape& shape) { return tensor_of(contents, shape); }},
      {"code -128", [](const Shape& shape) { return lowest_codes(-128, shape); }},
      {"codes -128 and 127", [](const Shape& shape) { return lowest_codes(127, shape); }}};
  for (const ActivationContent& content : contents) {
    all.push_back(
        {content.name, [content](const Shape& shape) { return tensor_of({content}, shape); }});
  }
  return all;
}

}  // namespace planegate::oracle::q8_act
