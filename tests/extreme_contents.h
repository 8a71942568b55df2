#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <planegate/core/hash.h>
#include <planegate/core/specs.h>

#include "oracle/half.h"
#include "oracle/q6_k/block.h"

/// Contents at the edges of what q6_K and the activations can hold.
namespace planegate::extremes {

using oracle::q6_k::Block;

inline constexpr size_t kBlockBytes = 210;
inline constexpr size_t kQh = 128;
inline constexpr size_t kSc = 192;
inline constexpr size_t kD = 208;
inline constexpr uint16_t kOne = 0x3c00;
inline constexpr uint16_t kLargest = 0x7bff;  // 65504

/// One block of a q6_K tensor.
struct WeightContent {
  std::string name;
  std::array<std::byte, kBlockBytes> bytes{};
};

/// Codes, sub-scales and a scale without any regularity.
inline Block varied_block() {
  Block block;
  for (size_t e = 0; e < 256; ++e) block.codes[e] = static_cast<uint8_t>(payload(1, e) % 64);
  for (size_t s = 0; s < 16; ++s) block.sc[s] = static_cast<int8_t>(payload(2, s) % 255 - 127);
  block.d_bits = 0x2a55;
  return block;
}

inline WeightContent of_block(std::string name, const Block& block) {
  WeightContent content{std::move(name)};
  oracle::q6_k::encode(block, content.bytes.data());
  return content;
}

inline WeightContent codes_all(uint8_t code) {
  Block block = varied_block();
  block.codes.fill(code);
  return of_block(fmt::format("all codes {}", code), block);
}

inline WeightContent filled(const char* field, size_t at, size_t size, uint8_t value) {
  WeightContent content = of_block(fmt::format("{} 0x{:02x}", field, value), varied_block());
  std::memset(content.bytes.data() + at, value, size);
  return content;
}

inline WeightContent sub_scales(int even, int odd) {
  Block block = varied_block();
  for (size_t s = 0; s < 16; ++s) block.sc[s] = static_cast<int8_t>(s % 2 == 0 ? even : odd);
  return of_block(fmt::format("sc {} and {}", even, odd), block);
}

inline WeightContent scale(uint16_t d_bits) {
  Block block = varied_block();
  block.d_bits = d_bits;
  return of_block(fmt::format("d 0x{:04x}", d_bits), block);
}

/// All of a block's values of one sign, as large as d and sc allow.
inline WeightContent largest_values(uint16_t d_bits, int8_t sc) {
  Block block;
  block.codes.fill(0);
  block.sc.fill(sc);
  block.d_bits = d_bits;
  return of_block(fmt::format("values d 0x{:04x} * sc {} * -32", d_bits, sc), block);
}

/// A block of zeros but for one byte, with d and sc as given.
inline WeightContent hot_byte(size_t at, uint8_t value, uint16_t d_bits, uint8_t sc) {
  WeightContent content{fmt::format("byte {} 0x{:02x}, d 0x{:04x}, sc {}", at, value, d_bits, sc)};
  std::memset(content.bytes.data() + kSc, sc, 16);
  oracle::store_f16(d_bits, content.bytes.data() + kD);
  content.bytes[at] = static_cast<std::byte>(value);
  return content;
}

inline std::vector<WeightContent> weight_contents() {
  std::vector<WeightContent> all;
  for (const uint8_t code : {uint8_t{0}, uint8_t{32}, uint8_t{63}}) all.push_back(codes_all(code));
  for (const int pattern : {0x00, 0xff, 0x0f, 0xf0}) {
    const auto value = static_cast<uint8_t>(pattern);
    all.push_back(filled("ql", 0, 128, value));
    all.push_back(filled("qh", kQh, 64, value));
  }
  for (const auto& [even, odd] : {std::pair(-128, -128), {127, 127}, {0, 0}, {-128, 127}}) {
    all.push_back(sub_scales(even, odd));
  }
  for (const int magnitude : {0x0000, 0x0001, 0x03ff, 0x0400, 0x7bff}) {
    all.push_back(scale(static_cast<uint16_t>(magnitude)));
    all.push_back(scale(static_cast<uint16_t>(magnitude | 0x8000)));
  }
  all.push_back(largest_values(kLargest, -128));
  all.push_back(largest_values(kLargest | 0x8000, 127));
  all.push_back(largest_values(0x0001, 1));
  for (const size_t at : {size_t{0}, size_t{127}, kQh, kQh + 63}) {
    all.push_back(hot_byte(at, 0x80, kOne, 1));
  }
  all.push_back(hot_byte(kSc + 15, 0x80, kOne, 0));
  all.push_back(hot_byte(kD, 0x01, 0, 1));
  all.push_back(hot_byte(5, 0xff, 0, 0));
  return all;
}

/// A q6_K tensor whose block (row, sb) holds content number row + stride * sb.
struct ExtremeTensor {
  ExtremeTensor(int64_t od, int64_t nsb, int64_t nt, size_t stride)
      : shape(od, nsb * kSuperBlockElems, nt), raw{"extreme.weight", "q6_K", shape, {}} {
    for (size_t row = 0; row < static_cast<size_t>(od); ++row) {
      for (size_t sb = 0; sb < static_cast<size_t>(nsb); ++sb) {
        const auto& block = contents[(row + stride * sb) % contents.size()].bytes;
        bytes.insert(bytes.end(), block.begin(), block.end());
      }
    }
    raw.bytes = bytes;
  }
  ExtremeTensor(const ExtremeTensor&) = delete;
  ExtremeTensor& operator=(const ExtremeTensor&) = delete;

  std::string legend() const {
    std::string out;
    for (size_t i = 0; i < contents.size(); ++i) {
      out += fmt::format("row {}: {}\n", i, contents[i].name);
    }
    return out;
  }

  std::vector<WeightContent> contents = weight_contents();
  Shape shape;
  std::vector<std::byte> bytes;
  RawTensor raw;
};

/// One content a row; od is odd, so that w_dsc has its extra row.
inline ExtremeTensor one_content_a_row(int64_t nsb, int64_t nt) {
  return {static_cast<int64_t>(weight_contents().size()) | 1, nsb, nt, 0};
}

/// Activations of one token: the value at k.
struct ActivationContent {
  const char* name;
  std::function<float(int64_t k)> value;
};

inline float sign(int64_t k) {
  return k % 2 == 0 ? 1.0f : -1.0f;
}

inline std::vector<ActivationContent> activation_contents() {
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

/// nt tokens, token t of content t modulo their number.
inline std::vector<float> extreme_activations(const Shape& shape) {
  const auto contents = activation_contents();
  std::vector<float> x;
  for (int64_t token = 0; token < shape.nt(); ++token) {
    const auto& content = contents[static_cast<size_t>(token) % contents.size()];
    for (int64_t k = 0; k < shape.id(); ++k) x.push_back(content.value(k));
  }
  return x;
}

}  // namespace planegate::extremes
