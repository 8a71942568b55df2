#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/formats/q8_act/contracts.h>
#include <planegate/producers/q8_act/producers.h>

namespace planegate::producers::q8_act {
namespace {

using planegate::q8_act::kChunkElems;
using planegate::q8_act::kQa8TileBytes;
using planegate::q8_act::kSdaTileBytes;
using planegate::q8_act::Qa8;
using planegate::q8_act::Sda;

constexpr const char* kFrom = "f32";
constexpr int64_t kElemBytes = 4;
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
/// The smallest f32 that rounds to an infinite f16.
constexpr float kFirstInfinite = 65520.0f;

/// One token's 32 elements, quantised.
struct Chunk {
  std::array<int8_t, kChunkElems> codes{};
  float scale = 0;
};

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

Chunk quantise(const std::byte* from) {
  std::array<float, kChunkElems> x;
  std::memcpy(x.data(), from, sizeof(x));
  float largest = 0;
  for (const float v : x) largest = std::max(largest, std::fabs(v));
  Chunk chunk;
  chunk.scale = largest / 127.0f;
  // Of a zero or tiny scale there is no reciprocal: all codes are 0, as the scale is in f16.
  const float inverse = 1.0f / chunk.scale;
  const float reciprocal = std::isinf(inverse) ? 0.0f : inverse;
  for (size_t i = 0; i < x.size(); ++i) chunk.codes[i] = code_of(x[i], reciprocal);
  return chunk;
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

/// Calls write(tile, token in tile, chunk of elements) for all 64 tokens of every tile.
template <class Write>
void for_each_chunk(const RawTensor& raw, int64_t tile_bytes, std::byte* plane, Write write) {
  const int64_t nt = raw.shape.nt();
  const int64_t id = raw.shape.id();
  const int64_t chunks = id / kChunkElems;
  const int64_t tiles = (nt + kTokenTileTokens - 1) / kTokenTileTokens;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t tile = 0; tile < tiles; ++tile) {
    for (int64_t c = 0; c < chunks; ++c) {
      std::byte* const to = plane + (tile * chunks + c) * tile_bytes;
      for (int64_t r = 0; r < kTokenTileTokens; ++r) {
        const int64_t token = tile * kTokenTileTokens + r;
        const int64_t at = (token * id + c * kChunkElems) * kElemBytes;
        write(to, r, token < nt ? quantise(raw.bytes.data() + at) : Chunk{});
      }
    }
  }
}

/// 16-byte piece h of token r at (r&~3)*32 + ((((r&3)*2 + h) ^ ((r>>2)&7)) << 4).
void put_codes(std::byte* tile, int64_t r, const Chunk& chunk) {
  for (int64_t h = 0; h < 2; ++h) {
    const int64_t piece = ((r & 3) * 2 + h) ^ ((r >> 2) & 7);
    std::memcpy(tile + (r & ~int64_t{3}) * kChunkElems + (piece << 4), chunk.codes.data() + 16 * h,
                16);
  }
}

/// Word rg*32 + q*4 + gsel*2 + half of token r = rg*32 + gsel*16 + half*8 + q.
void put_word(std::byte* tile, int64_t r, const Chunk& chunk) {
  int sum = 0;
  for (const int8_t code : chunk.codes) sum += code;
  const uint32_t word =
      static_cast<uint32_t>(sum) << 16 | static_cast<uint32_t>(f16_of(chunk.scale));
  const int64_t index = (r & 32) + (r & 7) * 4 + ((r >> 4) & 1) * 2 + ((r >> 3) & 1);
  std::memcpy(tile + index * 4, &word, sizeof(word));
}

void write_qa8(const RawTensor& raw, std::span<std::byte> plane) {
  require_input(raw, describe<Qa8>(), plane);
  for_each_chunk(raw, kQa8TileBytes, plane.data(), put_codes);
}

void write_sda(const RawTensor& raw, std::span<std::byte> plane) {
  require_input(raw, describe<Sda>(), plane);
  for_each_chunk(raw, kSdaTileBytes, plane.data(), put_word);
}

}  // namespace

void register_producers(Catalog& catalog) {
  catalog.add(ProducerSpec{"host qa8", kFrom, &describe<Qa8>(), write_qa8});
  catalog.add(ProducerSpec{"host sda", kFrom, &describe<Sda>(), write_sda});
}

}  // namespace planegate::producers::q8_act
