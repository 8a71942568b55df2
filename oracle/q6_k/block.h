#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace planegate::oracle::q6_k {

inline constexpr int kBlockElems = 256;
inline constexpr int kSubBlocks = 16;

/// One q6_K block, decoded: value e = d * sc[e/16] * (codes[e] - 32).
struct Block {
  std::array<uint8_t, kBlockElems> codes;  ///< 0..63
  std::array<int8_t, kSubBlocks> sc;
  uint16_t d_bits = 0;  ///< f16

  friend bool operator==(const Block&, const Block&) = default;
};

/// The scales of one block, without its codes.
struct Scales {
  std::array<int8_t, kSubBlocks> sc;
  uint16_t d_bits = 0;  ///< f16
};

/// Reads the scales of one block of 210 bytes.
Scales decode_scales(const std::byte* bytes);

/// Reads the 256 codes of one block of 210 bytes.
void decode_codes(const std::byte* bytes, uint8_t* codes);

/// @post encode(decode(bytes)) == bytes, decode(encode(block)) == block for codes in 0..63
/// (tests/oracle_q6_k_test.cpp).
Block decode(const std::byte* bytes);
void encode(const Block& block, std::byte* bytes);

}  // namespace planegate::oracle::q6_k
