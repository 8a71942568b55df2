#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/producers/q6_k/producers.h>

namespace planegate::producers::q6_k {
namespace {

using planegate::q6_k::kBlockBytes;
using planegate::q6_k::kCentre;
using planegate::q6_k::kFormat;
using planegate::q6_k::kPaddedBlockBytes;
using planegate::q6_k::Padded;
using planegate::q6_k::Raw;
using planegate::q6_k::WDsc;
using planegate::q6_k::WExp;

constexpr int64_t kQhOffset = 128;
constexpr int64_t kScOffset = 192;
constexpr int64_t kDOffset = 208;
constexpr int64_t kLaneElems = 32;  // weights that share a shift of qh and a nibble of ql

void require_sizes(const RawTensor& raw, const Contract& plane, std::span<std::byte> out) {
  if (raw.format != kFormat) throw ContractError("raw.format", raw.format, "q6_K");
  const int64_t raw_bytes = describe<Raw>().size_bytes(raw.shape);
  const int64_t plane_bytes = plane.size_bytes(raw.shape);
  require(std::ssize(raw.bytes) == raw_bytes, "raw.bytes.size()", std::ssize(raw.bytes),
          fmt::format("{} bytes at {}", raw_bytes, raw.shape.text()));
  require(std::ssize(out) == plane_bytes, "plane.size()", std::ssize(out),
          fmt::format("{} bytes at {}", plane_bytes, raw.shape.text()));
}

void write_raw(const RawTensor& raw, std::span<std::byte> plane) {
  require_sizes(raw, describe<Raw>(), plane);
  const int64_t row_bytes = raw.shape.nsb() * kBlockBytes;
  const int64_t od = raw.shape.od();
#pragma omp parallel for schedule(static)
  for (int64_t j = 0; j < od; ++j) {
    std::memcpy(plane.data() + j * row_bytes, raw.bytes.data() + j * row_bytes,
                static_cast<size_t>(row_bytes));
  }
}

void write_padded(const RawTensor& raw, std::span<std::byte> plane) {
  require_sizes(raw, describe<Padded>(), plane);
  const int64_t blocks = raw.shape.od() * raw.shape.nsb();
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < blocks; ++b) {
    std::byte* const to = plane.data() + b * kPaddedBlockBytes;
    std::memcpy(to, raw.bytes.data() + b * kBlockBytes, kBlockBytes);
    std::memset(to + kBlockBytes, Padded::kPadValue, kPaddedBlockBytes - kBlockBytes);
  }
}

/// codes[e] = (ql[64*(e/128) + e%64] >> 4*(e%128/64) & 15 |
///             (qh[32*(e/128) + e%32] >> 2*(e%128/32) & 3) << 4) - 32, 32 weights at a time.
void expand_block(const uint8_t* block, int8_t* codes) {
  for (int64_t lane = 0; lane < 8; ++lane) {
    const int64_t half = lane >> 2;
    const uint8_t* ql = block + 64 * half + kLaneElems * (lane & 1);
    const uint8_t* qh = block + kQhOffset + 32 * half;
    const int low_shift = 4 * static_cast<int>((lane >> 1) & 1);
    const int high_shift = 2 * static_cast<int>(lane & 3);
    int8_t* out = codes + kLaneElems * lane;
    for (int64_t i = 0; i < kLaneElems; ++i) {
      const int code = ((ql[i] >> low_shift) & 15) | (((qh[i] >> high_shift) & 3) << 4);
      out[i] = static_cast<int8_t>(code - kCentre);
    }
  }
}

void write_w_exp(const RawTensor& raw, std::span<std::byte> plane) {
  require_sizes(raw, describe<WExp>(), plane);
  const int64_t blocks = raw.shape.od() * raw.shape.nsb();
  const auto* from = reinterpret_cast<const uint8_t*>(raw.bytes.data());
  auto* to = reinterpret_cast<int8_t*>(plane.data());
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < blocks; ++b) {
    expand_block(from + b * kBlockBytes, to + b * kSuperBlockElems);
  }
}

/// f16 -> f32, exact: read 13 bits higher as f32, the exponent is 112 short, that of subnormals
/// too.
float f32_of(uint16_t half) {
  const float magnitude =
      std::bit_cast<float>(static_cast<uint32_t>(half & 0x7fff) << 13) * 0x1p112f;
  return half >> 15 == 0 ? magnitude : -magnitude;
}

uint16_t d_bits(const std::byte* block) {
  uint16_t half = 0;
  std::memcpy(&half, block + kDOffset, sizeof(half));
  return half;
}

void require_finite_scales(const RawTensor& raw) {
  constexpr uint16_t kExponent = 0x7c00;
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const int64_t nsb = raw.shape.nsb();
  const int64_t blocks = raw.shape.od() * nsb;
  int64_t first = kNone;
#pragma omp parallel for schedule(static) reduction(min : first)
  for (int64_t b = 0; b < blocks; ++b) {
    const uint16_t half = d_bits(raw.bytes.data() + b * kBlockBytes);
    if ((half & kExponent) == kExponent) first = std::min(first, b);
  }
  if (first == kNone) return;
  throw ContractError(fmt::format("d[row {}, super-block {}]", first / nsb, first % nsb),
                      fmt::format("0x{:04x}", d_bits(raw.bytes.data() + first * kBlockBytes)),
                      "not a finite f16");
}

/// Pair i of chunks 8*sb + i: d * sc[2*i], d * sc[2*i + 1], `chunk_bytes` apart.
void put_products(const std::byte* block, int64_t chunk_bytes, std::byte* to) {
  const float d = f32_of(d_bits(block));
  for (int64_t i = 0; i < kSuperBlockElems / 32; ++i) {
    std::array<float, 2> pair{};
    for (int64_t half = 0; half < 2; ++half) {
      const auto sc = static_cast<int8_t>(block[kScOffset + 2 * i + half]);
      pair[static_cast<size_t>(half)] = d * static_cast<float>(sc);
    }
    std::memcpy(to + i * chunk_bytes, pair.data(), sizeof(pair));
  }
}

/// Pair c*od_even + j, c = 8*sb + i, from block j*nsb + sb.
void write_w_dsc(const RawTensor& raw, std::span<std::byte> plane) {
  constexpr int64_t kPairBytes = 8;
  constexpr int64_t kTileRows = 256;
  require_sizes(raw, describe<WDsc>(), plane);
  require_finite_scales(raw);
  const int64_t od = raw.shape.od();
  const int64_t nsb = raw.shape.nsb();
  const int64_t chunk_bytes = (od + od % 2) * kPairBytes;
  const int64_t tiles = (od + kTileRows - 1) / kTileRows;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t sb = 0; sb < nsb; ++sb) {
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t end = std::min(od, (tile + 1) * kTileRows);
      std::byte* const chunk = plane.data() + 8 * sb * chunk_bytes;
      for (int64_t j = tile * kTileRows; j < end; ++j) {
        put_products(raw.bytes.data() + (j * nsb + sb) * kBlockBytes, chunk_bytes,
                     chunk + j * kPairBytes);
      }
    }
  }
  for (int64_t c = 0; od % 2 != 0 && c < 8 * nsb; ++c) {
    std::memset(plane.data() + c * chunk_bytes + od * kPairBytes, WDsc::kPadValue, kPairBytes);
  }
}

}  // namespace

void register_producers(Catalog& catalog) {
  catalog.add(ProducerSpec{"host raw", kFormat, &describe<Raw>(), write_raw});
  catalog.add(ProducerSpec{"host padded", kFormat, &describe<Padded>(), write_padded});
  catalog.add(ProducerSpec{"host w_exp", kFormat, &describe<WExp>(), write_w_exp});
  catalog.add(ProducerSpec{"host w_dsc", kFormat, &describe<WDsc>(), write_w_dsc});
}

}  // namespace planegate::producers::q6_k
