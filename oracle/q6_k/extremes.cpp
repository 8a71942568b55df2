#include "oracle/q6_k/extremes.h"

#include <cstring>

#include <fmt/format.h>

#include <planegate/core/hash.h>
#include <planegate/formats/q6_k/contracts.h>

#include "oracle/half.h"
#include "oracle/q6_k/block.h"

namespace planegate::oracle::q6_k {
namespace {

constexpr size_t kQh = 128;
constexpr size_t kSc = 192;
constexpr size_t kD = 208;
constexpr uint16_t kOne = 0x3c00;
constexpr uint16_t kLargest = 0x7bff;  // 65504

/// Codes, sub-scales and a scale without any regularity.
Block varied_block() {
  Block block;
  for (size_t e = 0; e < 256; ++e) block.codes[e] = static_cast<uint8_t>(payload(1, e) % 64);
  for (size_t s = 0; s < 16; ++s) block.sc[s] = static_cast<int8_t>(payload(2, s) % 255 - 127);
  block.d_bits = 0x2a55;
  return block;
}

WeightContent of_block(std::string name, const Block& block) {
  WeightContent content{std::move(name)};
  encode(block, content.bytes.data());
  return content;
}

WeightContent codes_all(uint8_t code) {
  Block block = varied_block();
  block.codes.fill(code);
  return of_block(fmt::format("all codes {}", code), block);
}

WeightContent filled(const char* field, size_t at, size_t size, uint8_t value) {
  WeightContent content = of_block(fmt::format("{} 0x{:02x}", field, value), varied_block());
  std::memset(content.bytes.data() + at, value, size);
  return content;
}

WeightContent sub_scales(int even, int odd) {
  Block block = varied_block();
  for (size_t s = 0; s < 16; ++s) block.sc[s] = static_cast<int8_t>(s % 2 == 0 ? even : odd);
  return of_block(fmt::format("sc {} and {}", even, odd), block);
}

WeightContent scale(uint16_t d_bits) {
  Block block = varied_block();
  block.d_bits = d_bits;
  return of_block(fmt::format("d 0x{:04x}", d_bits), block);
}

/// All of a block's values of one sign, as large as d and sc allow.
WeightContent largest_values(uint16_t d_bits, int8_t sc) {
  Block block;
  block.codes.fill(0);
  block.sc.fill(sc);
  block.d_bits = d_bits;
  return of_block(fmt::format("values d 0x{:04x} * sc {} * -32", d_bits, sc), block);
}

/// A block of zeros but for one byte, with d and sc as given.
WeightContent hot_byte(size_t at, uint8_t value, uint16_t d_bits, uint8_t sc) {
  WeightContent content{fmt::format("byte {} 0x{:02x}, d 0x{:04x}, sc {}", at, value, d_bits, sc)};
  std::memset(content.bytes.data() + kSc, sc, 16);
  store_f16(d_bits, content.bytes.data() + kD);
  content.bytes[at] = static_cast<std::byte>(value);
  return content;
}

/// Block (row, sb) holds content number row + stride * sb.
std::vector<std::byte> tensor_of(const std::vector<WeightContent>& contents, size_t stride,
                                 const Shape& shape) {
  std::vector<std::byte> bytes;
  for (int64_t row = 0; row < shape.od(); ++row) {
    for (int64_t sb = 0; sb < shape.nsb(); ++sb) {
      const size_t number = static_cast<size_t>(row) + stride * static_cast<size_t>(sb);
      const auto& block = contents[number % contents.size()].bytes;
      bytes.insert(bytes.end(), block.begin(), block.end());
    }
  }
  return bytes;
}

}  // namespace

std::vector<WeightContent> weight_contents() {
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

std::vector<Extreme> extremes() {
  constexpr size_t kStride = 7;
  const std::vector<WeightContent> contents = weight_contents();
  std::vector<Extreme> all = {
      {"mixed", [contents](const Shape& shape) { return tensor_of(contents, kStride, shape); }}};
  for (const WeightContent& content : contents) {
    all.push_back(
        {content.name, [content](const Shape& shape) { return tensor_of({content}, 0, shape); }});
  }
  return all;
}

}  // namespace planegate::oracle::q6_k
