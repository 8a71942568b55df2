#include "oracle/q8_act/mirror.h"

#include <cstring>

#include <planegate/formats/q8_act/contracts.h>

#include "oracle/half.h"
#include "oracle/parallel.h"
#include "oracle/preconditions.h"

namespace planegate::oracle::q8_act {
namespace {

using planegate::q8_act::kChunkBytes;
using planegate::q8_act::kChunkElems;
using planegate::q8_act::kFormat;
using planegate::q8_act::kQa8TileBytes;
using planegate::q8_act::kSdaTileBytes;

constexpr int kPieceBytes = 16;

/// The 64 tokens of one tile at one chunk, as they stand in the q8_0 tensor.
class TileSource {
 public:
  TileSource(const RawTensor& raw, int64_t tile, int64_t chunk)
      : line_bytes_(raw.shape.id() / kChunkElems * kChunkBytes),
        tokens_(raw.shape.nt() - tile * kTokenTileTokens),
        first_(raw.bytes.data() + tile * kTokenTileTokens * line_bytes_ + chunk * kChunkBytes) {}

  /// The chunk of the tile's token `t`; null beyond the last token.
  const std::byte* chunk_of(int64_t t) const {
    return t < tokens_ ? first_ + t * line_bytes_ : nullptr;
  }

 private:
  int64_t line_bytes_;
  int64_t tokens_;
  const std::byte* first_;
};

/// A tile's 128-byte lines hold 4 tokens, 8 pieces of 16 codes; where line number n of 8 has its
/// slot s, stands piece s XOR n.
std::byte* write_codes(const TileSource& source, std::byte* to) {
  int first_token = 0;
  for (int octet = 0; octet < 2; ++octet) {
    for (int line = 0; line < 8; ++line) {
      for (int slot = 0; slot < 8; ++slot) {
        const int piece = slot ^ line;
        const std::byte* chunk = source.chunk_of(first_token + piece / 2);
        if (chunk == nullptr) {
          std::memset(to, 0, kPieceBytes);
        } else {
          std::memcpy(to, chunk + sizeof(uint16_t) + piece % 2 * kPieceBytes, kPieceBytes);
        }
        to += kPieceBytes;
      }
      first_token += 4;
    }
  }
  return to;
}

int32_t sum_of_codes(const std::byte* codes) {
  int32_t sum = 0;
  for (int64_t e = 0; e < kChunkElems; ++e) sum += static_cast<int8_t>(*codes++);
  return sum;
}

std::byte* write_word(const std::byte* chunk, std::byte* to) {
  uint16_t word[2] = {0, 0};
  if (chunk != nullptr) {
    word[0] = load_f16(chunk);
    word[1] = static_cast<uint16_t>(sum_of_codes(chunk + sizeof(uint16_t)));
  }
  std::memcpy(to, word, sizeof word);
  return to + sizeof word;
}

std::byte* write_scales(const TileSource& source, std::byte* to) {
  for (int rg = 0; rg < 2; ++rg) {
    for (int q = 0; q < 8; ++q) {
      for (int gsel = 0; gsel < 2; ++gsel) {
        for (int half = 0; half < 2; ++half) {
          to = write_word(source.chunk_of(rg * 32 + gsel * 16 + half * 8 + q), to);
        }
      }
    }
  }
  return to;
}

/// d, two bytes of padding, the codes, their sum.
std::byte* write_block(const std::byte* chunk, std::byte* to) {
  std::memcpy(to, chunk, sizeof(uint16_t));
  chunk += sizeof(uint16_t);
  to += sizeof(uint16_t);
  *to++ = std::byte{0};
  *to++ = std::byte{0};
  std::memcpy(to, chunk, kChunkElems);
  to += kChunkElems;
  const int32_t sum = sum_of_codes(chunk);
  std::memcpy(to, &sum, sizeof sum);
  return to + sizeof sum;
}

/// Walks the tiles in the plane's order: [ceil(nt/64)][id/32].
template <class WriteTile>
void walk_tiles(const RawTensor& raw, const Contract& contract, int64_t tile_bytes,
                std::span<std::byte> plane, const WriteTile& write_tile) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_plane(contract, raw.shape, plane);
  const int64_t chunks = raw.shape.id() / kChunkElems;
  const int64_t tiles = static_cast<int64_t>(plane.size()) / tile_bytes;
  for_ranges(tiles, grain_of(tiles, tile_bytes), [&](int64_t first, int64_t end) {
    std::byte* to = plane.data() + first * tile_bytes;
    int64_t tile = first / chunks;
    int64_t chunk = first % chunks;
    for (int64_t left = end - first; left > 0; --left) {
      to = write_tile(TileSource(raw, tile, chunk), to);
      if (++chunk == chunks) {
        chunk = 0;
        ++tile;
      }
    }
  });
}

}  // namespace

int64_t size_bytes(const Shape& shape) {
  require(shape.id() % kChunkElems == 0, "id", shape.id(), "not a multiple of 32");
  return shape.nt() * (shape.id() / kChunkElems * kChunkBytes);
}

void mirror_qa8(const RawTensor& raw, std::span<std::byte> plane) {
  walk_tiles(raw, describe<planegate::q8_act::Qa8>(), kQa8TileBytes, plane, write_codes);
}

void mirror_sda(const RawTensor& raw, std::span<std::byte> plane) {
  walk_tiles(raw, describe<planegate::q8_act::Sda>(), kSdaTileBytes, plane, write_scales);
}

void mirror_pad40(const RawTensor& raw, std::span<std::byte> plane) {
  require_tensor(raw, kFormat, size_bytes(raw.shape));
  require_plane(describe<planegate::q8_act::Pad40>(), raw.shape, plane);
  const int64_t nt = raw.shape.nt();
  const int64_t chunks = raw.shape.id() / kChunkElems;
  const int64_t token_bytes = static_cast<int64_t>(plane.size()) / nt;
  for_ranges(nt, grain_of(nt, token_bytes), [&](int64_t token, int64_t end) {
    const std::byte* from = raw.bytes.data() + token * (chunks * kChunkBytes);
    std::byte* to = plane.data() + token * token_bytes;
    for (int64_t left = (end - token) * chunks; left > 0; --left) {
      to = write_block(from, to);
      from += kChunkBytes;
    }
  });
}

}  // namespace planegate::oracle::q8_act
