#include <algorithm>
#include <cstring>

#include <planegate/devices/device.h>
#include <planegate/formats/q8_act/contracts.h>

#include "mutants/plane_edits.h"

/// Producers of qa8, sda and pad40: where codes and scales go, tails and pads.
namespace planegate::mutants {
namespace {

using q8_act::Pad40;
using q8_act::Qa8;
using q8_act::Sda;

constexpr int64_t kPad40Bytes = q8_act::detail::kPad40Bytes;

const Contract& qa8() {
  return describe<Qa8>();
}
const Contract& sda() {
  return describe<Sda>();
}
const Contract& pad40() {
  return describe<Pad40>();
}

PlaneEdit codes_relaid(std::function<void(FlatLayout&, const Shape&)> change) {
  return relaid(qa8(), "codes", std::move(change));
}

/// Tokens beyond nt hold the last token.
void repeat_last_token(const RawTensor& raw, Bytes plane) {
  const int64_t nt = raw.shape.nt();
  const Values values(qa8(), raw.shape.with_tokens(kTokenTileTokens), "codes");
  values.for_each([&](Place at) {
    if (at.line >= nt) values.set(plane, at, values.get(plane, {nt - 1, at.k}));
  });
}

/// 16-byte piece h of token r swizzled by r&7, not by r>>2.
int64_t swizzled_by_token(Place at, const Shape& shape) {
  const int64_t r = at.line % kTokenTileTokens;
  const int64_t tile = at.line / kTokenTileTokens * (shape.id() / 32) + at.k / 32;
  const int64_t piece = ((r & 3) * 2 + at.k % 32 / 16) ^ (r & 7);
  return tile * q8_act::kQa8TileBytes + (r & ~int64_t{3}) * 32 + (piece << 4) + at.k % 16;
}

/// Where a writer without the order of the tile puts word i: token i of 64.
int64_t straight_token(int64_t token, int64_t) {
  const int64_t r = token % kTokenTileTokens;
  return token - r + ((r & 32) + (r & 7) * 4 + ((r >> 4) & 1) * 2 + ((r >> 3) & 1));
}

void swap_halves_of_words(const RawTensor&, Bytes plane) {
  for (auto word = plane.begin(); word != plane.end(); word += 4) {
    std::swap_ranges(word, word + 2, word + 2);
  }
}

/// The last chunk of every token is all zero.
PlaneEdit last_chunk_zero(const Contract& contract, const char* field) {
  return [&contract, field](const RawTensor& raw, Bytes plane) {
    const Values values(contract, raw.shape, field);
    values.for_each([&](Place at) {
      if (at.k >= raw.shape.id() - 32) values.set(plane, at, 0);
    });
  };
}

/// Block (token, chunk) of pad40 goes to offset(token, chunk), `bytes` of it.
PlaneEdit blocks_at(int64_t (*offset_bytes)(int64_t token, int64_t chunk, const Shape&)) {
  return [offset_bytes](const RawTensor& raw, Bytes plane) {
    const std::vector<std::byte> good(plane.begin(), plane.end());
    std::fill(plane.begin(), plane.end(), kPoison);
    const int64_t chunks = raw.shape.id() / 32;
    for (int64_t block = 0; block < raw.shape.nt() * chunks; ++block) {
      std::memcpy(plane.data() + offset_bytes(block / chunks, block % chunks, raw.shape),
                  good.data() + block * kPad40Bytes, static_cast<size_t>(kPad40Bytes));
    }
  };
}

/// d and codes with no pad between them, blocks of 38 bytes.
void pack_blocks(const RawTensor&, Bytes plane) {
  const std::vector<std::byte> good(plane.begin(), plane.end());
  std::fill(plane.begin(), plane.end(), kPoison);
  for (int64_t block = 0; block < std::ssize(plane) / kPad40Bytes; ++block) {
    const std::byte* const from = good.data() + block * kPad40Bytes;
    std::byte* const to = plane.data() + block * 38;
    std::memcpy(to, from, 2);
    std::memcpy(to + 2, from + 4, 36);
  }
}

uint32_t bytes_swapped(uint32_t half) {
  return half >> 8 | (half & 0xFF) << 8;
}

std::vector<ProducerFault> qa8_faults() {
  const Shape full{16, 512, 64}, tail{16, 512, 9}, two_tiles{16, 512, 128};
  return {
      {"not swizzled",
       "scale-plane-mismatch",
       {"token 4, k 16 (codes)"},
       codes_relaid([](FlatLayout& layout, const Shape&) { layout.swizzle = {}; }),
       full},
      {"swizzled by the token",
       "sub-block-order",
       {"byte 32 = token 1, k 0 (codes)"},
       placed(qa8(), "codes", swizzled_by_token),
       full},
      {"tiles chunk-major",
       "tile/grid mismatch",
       {"byte 2048 = token 0, k 32 (codes)"},
       codes_relaid([](FlatLayout& layout, const Shape& s) {
         layout.terms[2].stride_bits = 8 * q8_act::kQa8TileBytes * (s.nt() / kTokenTileTokens);
         layout.terms[3].stride_bits = 8 * q8_act::kQa8TileBytes;
       }),
       two_tiles},
      {"tiles of 32 tokens",
       "tile/grid mismatch",
       {"byte 1024 = token 32, k 0 (codes)"},
       codes_relaid([](FlatLayout& layout, const Shape& s) {
         layout.terms[1].mod = 32;
         layout.terms[2].stride_bits = 8 * 32 * 32;
         layout.terms[3].div = 32;
         layout.terms[3].stride_bits = 8 * 32 * s.id();
       }),
       full},
      {"tail tokens left unwritten",
       "uninitialised-padding",
       {"= padding", "28160 of 32768 bytes differ"},
       padded_with(qa8(), kPoison),
       tail},
      {"tail tokens repeat the last", "tail-rows-unmasked", {"= padding"}, repeat_last_token, tail},
      {"last chunk skipped",
       "tail-K",
       {"token 0, k 480 (codes)"},
       last_chunk_zero(qa8(), "codes"),
       tail},
      {"16-halves of a chunk swapped",
       "sub-block-order",
       {"byte 0 = token 0, k 0 (codes)"},
       crossed(qa8(), "codes", 16),
       tail},
  };
}

std::vector<ProducerFault> sda_faults() {
  const Shape full{16, 512, 64}, tail{16, 512, 9};
  return {
      {"words in order of tokens",
       "scale-plane-mismatch",
       {"byte 4 = token 8, k 0 (d)"},
       lines_from(sda(), straight_token),
       full},
      {"d and sum swapped",
       "sub-block-order",
       {"byte 0 = token 0, k 0 (d)"},
       swap_halves_of_words,
       tail},
      {"tail tokens left unwritten",
       "uninitialised-padding",
       {"= padding", "3520 of 4096 bytes differ"},
       padded_with(sda(), kPoison),
       tail},
      {"tail tokens filled with 1",
       "wrong-pad-value",
       {"= padding", "3520 of 4096 bytes differ"},
       padded_with(sda(), std::byte{1}),
       tail},
      {"d of the last chunk missing",
       "tail-K",
       {"token 0, k 480 (d)"},
       last_chunk_zero(sda(), "d"),
       tail},
      {"sum kept in 8 bits",
       "sign/centering",
       {"(sum)"},
       valued(sda(), "sum",
              [](uint32_t sum) { return static_cast<uint32_t>(static_cast<int8_t>(sum)); }),
       tail},
  };
}

std::vector<ProducerFault> pad40_faults() {
  const Shape three{16, 512, 3};
  return {
      {"pad left unwritten",
       "uninitialised-padding",
       {"byte 2 = padding", "96 of 1920 bytes differ"},
       padded_with(pad40(), kPoison),
       three},
      {"blocks without their pad", "padded-vs-dense", {"byte 2 = padding"}, pack_blocks, three},
      {"blocks chunk-major",
       "wrong-row-stride",
       {"byte 40 = token 0, k 32 (d)"},
       blocks_at([](int64_t token, int64_t chunk, const Shape& s) {
         return (chunk * s.nt() + token) * kPad40Bytes;
       }),
       three},
      {"third of three tokens missing",
       "small-batch-path",
       {"byte 1280 = token 2, k 0 (d)", "of 1920 bytes differ"},
       [](const RawTensor& raw, Bytes plane) {
         const int64_t token_bytes = std::ssize(plane) / raw.shape.nt();
         std::fill(plane.begin() + raw.shape.nt() / 2 * 2 * token_bytes, plane.end(), kPoison);
       },
       three},
      {"d big-endian",
       "endianness",
       {"byte 0 = token 0, k 0 (d)"},
       valued(pad40(), "d", bytes_swapped),
       three},
      {"sum without its sign",
       "sign/centering",
       {"(sum)", "[ff]", "[00]"},
       valued(pad40(), "sum", [](uint32_t sum) { return sum & 0xFFFF; }),
       three},
      {"codes of the last chunk skipped",
       "tail-K",
       {"token 0, k 480 (codes)"},
       last_chunk_zero(pad40(), "codes"),
       three},
  };
}

void append(std::vector<gates::Arm>& arms, const char* plane, const char* consumer,
            const std::vector<ProducerFault>& faults) {
  for (const ProducerFault& fault : faults) arms.push_back(producer_arm(plane, consumer, fault));
}

}  // namespace

std::vector<gates::Arm> activation_plane_arms() {
  std::vector<gates::Arm> arms;
  append(arms, "qa8", "w_exp/cp_async", qa8_faults());
  append(arms, "sda", "w_exp/cp_async", sda_faults());
  append(arms, "pad40", "padded/decode", pad40_faults());
  return arms;
}

}  // namespace planegate::mutants
