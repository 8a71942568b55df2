#include "oracle/q6_k/block.h"

#include <cstring>

#include "oracle/half.h"

namespace planegate::oracle::q6_k {
namespace {

constexpr int kHalves = 2;
constexpr int kQlBytes = 64;  // of a half
constexpr int kQhBytes = 32;  // of a half, four weights each

}  // namespace

void decode_codes(const std::byte* bytes, uint8_t* codes) {
  const auto* ql = reinterpret_cast<const uint8_t*>(bytes);
  const uint8_t* qh = ql + kHalves * kQlBytes;
  for (int half = 0; half < kHalves; ++half) {
    for (int l = 0; l < kQhBytes; ++l) {
      const uint8_t first = ql[l];
      const uint8_t second = ql[l + kQhBytes];
      const uint8_t high = qh[l];
      codes[l] = static_cast<uint8_t>((first & 15) | (high & 3) << 4);
      codes[l + 32] = static_cast<uint8_t>((second & 15) | (high >> 2 & 3) << 4);
      codes[l + 64] = static_cast<uint8_t>(first >> 4 | (high >> 4 & 3) << 4);
      codes[l + 96] = static_cast<uint8_t>(second >> 4 | (high >> 6 & 3) << 4);
    }
    ql += kQlBytes;
    qh += kQhBytes;
    codes += kBlockElems / kHalves;
  }
}

Scales decode_scales(const std::byte* bytes) {
  Scales scales;
  bytes += kHalves * (kQlBytes + kQhBytes);
  std::memcpy(scales.sc.data(), bytes, kSubBlocks);
  scales.d_bits = load_f16(bytes + kSubBlocks);
  return scales;
}

Block decode(const std::byte* bytes) {
  Block block;
  decode_codes(bytes, block.codes.data());
  const Scales scales = decode_scales(bytes);
  block.sc = scales.sc;
  block.d_bits = scales.d_bits;
  return block;
}

void encode(const Block& block, std::byte* bytes) {
  auto* ql = reinterpret_cast<uint8_t*>(bytes);
  uint8_t* qh = ql + kHalves * kQlBytes;
  const uint8_t* codes = block.codes.data();
  for (int half = 0; half < kHalves; ++half) {
    for (int l = 0; l < kQhBytes; ++l) {
      const uint8_t a = codes[l];
      const uint8_t b = codes[l + 32];
      const uint8_t c = codes[l + 64];
      const uint8_t d = codes[l + 96];
      ql[l] = static_cast<uint8_t>((a & 15) | (c & 15) << 4);
      ql[l + kQhBytes] = static_cast<uint8_t>((b & 15) | (d & 15) << 4);
      qh[l] = static_cast<uint8_t>(a >> 4 | (b >> 4) << 2 | (c >> 4) << 4 | (d >> 4) << 6);
    }
    ql += kQlBytes;
    qh += kQhBytes;
    codes += kBlockElems / kHalves;
  }
  bytes += kHalves * (kQlBytes + kQhBytes);
  std::memcpy(bytes, block.sc.data(), kSubBlocks);
  store_f16(block.d_bits, bytes + kSubBlocks);
}

}  // namespace planegate::oracle::q6_k
