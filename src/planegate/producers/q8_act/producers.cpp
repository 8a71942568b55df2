#include <cstring>

#include <planegate/producers/q8_act/producers.h>
#include <planegate/producers/q8_act/quantise.h>

namespace planegate::producers::q8_act {
namespace {

using planegate::q8_act::kChunkElems;
using planegate::q8_act::kQa8TileBytes;
using planegate::q8_act::kSdaTileBytes;
using planegate::q8_act::Pad40;
using planegate::q8_act::Qa8;
using planegate::q8_act::Sda;

constexpr int64_t kPad40Bytes = planegate::q8_act::detail::kPad40Bytes;
constexpr int64_t kPad40Codes = 4;
constexpr int64_t kPad40Sum = 36;

Chunk chunk_at(const RawTensor& raw, int64_t token, int64_t chunk) {
  return quantise(raw.bytes.data() + (token * raw.shape.id() + chunk * kChunkElems) * kElemBytes);
}

/// Calls write(tile, token in tile, chunk of elements) for all 64 tokens of every tile.
template <class Write>
void for_each_chunk(const RawTensor& raw, int64_t tile_bytes, std::byte* plane, Write write) {
  const int64_t nt = raw.shape.nt();
  const int64_t chunks = raw.shape.id() / kChunkElems;
  const int64_t tiles = (nt + kTokenTileTokens - 1) / kTokenTileTokens;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t tile = 0; tile < tiles; ++tile) {
    for (int64_t c = 0; c < chunks; ++c) {
      std::byte* const to = plane + (tile * chunks + c) * tile_bytes;
      for (int64_t r = 0; r < kTokenTileTokens; ++r) {
        const int64_t token = tile * kTokenTileTokens + r;
        write(to, r, token < nt ? chunk_at(raw, token, c) : Chunk{});
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
  const uint32_t word = static_cast<uint32_t>(chunk.sum()) << 16 | chunk.scale_f16;
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

/// Bytes 40*b .. 40*b + 39 of chunk b = token*(id/32) + c.
void write_pad40(const RawTensor& raw, std::span<std::byte> plane) {
  require_input(raw, describe<Pad40>(), plane);
  const int64_t chunks = raw.shape.id() / kChunkElems;
  const int64_t blocks = raw.shape.nt() * chunks;
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < blocks; ++b) {
    const Chunk chunk = chunk_at(raw, b / chunks, b % chunks);
    // The upper half of the word is the padding.
    const uint32_t scale = chunk.scale_f16;
    const int32_t sum = chunk.sum();
    std::byte* const to = plane.data() + b * kPad40Bytes;
    std::memcpy(to, &scale, sizeof(scale));
    std::memcpy(to + kPad40Codes, chunk.codes.data(), chunk.codes.size());
    std::memcpy(to + kPad40Sum, &sum, sizeof(sum));
  }
}

}  // namespace

void register_producers(Catalog& catalog) {
  catalog.add(ProducerSpec{"host qa8", kFrom, &describe<Qa8>(), write_qa8});
  catalog.add(ProducerSpec{"host sda", kFrom, &describe<Sda>(), write_sda});
  catalog.add(ProducerSpec{"host pad40", kFrom, &describe<Pad40>(), write_pad40});
}

}  // namespace planegate::producers::q8_act
