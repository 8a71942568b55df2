#include <algorithm>
#include <cstring>

#include <planegate/devices/device.h>
#include <planegate/formats/q6_k/contracts.h>

#include "mutants/plane_edits.h"

/// Producers of the planes that keep the file's blocks: padded and raw.
namespace planegate::mutants {
namespace {

using q6_k::kBlockBytes;
using q6_k::kPaddedBlockBytes;
using q6_k::Padded;
using q6_k::Raw;

const Contract& padded() {
  return describe<Padded>();
}
const Contract& raw_plane() {
  return describe<Raw>();
}

/// Block (row, sb) of the file at offset(row, sb); the rest holds `rest`.
PlaneEdit blocks_at(std::function<int64_t(int64_t row, int64_t sb, const Shape&)> offset_bytes,
                    std::byte rest) {
  return [offset_bytes, rest](const RawTensor& raw, Bytes plane) {
    std::fill(plane.begin(), plane.end(), rest);
    const int64_t nsb = raw.shape.nsb();
    for (int64_t block = 0; block < raw.shape.od() * nsb; ++block) {
      const int64_t to = offset_bytes(block / nsb, block % nsb, raw.shape);
      const int64_t bytes = std::min(kBlockBytes, std::ssize(plane) - to);
      if (bytes <= 0) continue;
      std::memcpy(plane.data() + to, raw.bytes.data() + block * kBlockBytes,
                  static_cast<size_t>(bytes));
    }
  };
}

uint32_t bytes_swapped(uint32_t half) {
  return half >> 8 | (half & 0xFF) << 8;
}

Place next_super_block(Place at, const Shape& shape) {
  return {at.line, (at.k + kSuperBlockElems) % shape.id()};
}

/// Row j from row 2*(j%8) + j/8 of its 16: two octets interleaved.
int64_t interleaved_by_8(int64_t row, int64_t) {
  return row / 16 * 16 + row % 8 * 2 + row % 16 / 8;
}

/// The blocks of the rows from `begin` on were never written.
PlaneEdit rows_missing_from(const Contract& contract, int64_t (*begin)(const Shape&)) {
  return [&contract, begin](const RawTensor& raw, Bytes plane) {
    const int64_t row_bytes = contract.size_bytes(raw.shape) / raw.shape.od();
    std::fill(plane.begin() + begin(raw.shape) * row_bytes, plane.end(), kPoison);
  };
}

std::vector<ProducerFault> padded_order_faults() {
  return {
      {"nibbles of ql swapped",
       "nibble-order",
       {"row 0, super-block 0, element 0 (ql)"},
       crossed(padded(), "ql", 64)},
      {"pairs of qh in falling order",
       "sub-block-order",
       {"row 0, super-block 0, element 0 (qh)"},
       crossed(padded(), "qh", 96)},
      {"halves of ql swapped",
       "sub-block-order",
       {"row 0, super-block 0, element 0 (ql)"},
       crossed(padded(), "ql", 128)},
      {"sc of the other 16-half",
       "sub-block-order",
       {"row 0, super-block 0, element 0 (sc)"},
       crossed(padded(), "sc", 16)},
      {"d of the next super-block",
       "wrong-block-stride",
       {"row 0, super-block 0, element 0 (d)"},
       moved(padded(), "d", next_super_block)},
      {"d big-endian",
       "endianness",
       {"byte 208 = row 0, super-block 0, element 0 (d)"},
       valued(padded(), "d", bytes_swapped)},
      {"rows interleaved by 8",
       "sub-block-order",
       {"byte 448 = row 1, super-block 0, element 0 (ql)"},
       lines_from(padded(), interleaved_by_8)},
  };
}

std::vector<ProducerFault> padded_place_faults() {
  return {
      {"blocks back to back",
       "padded-vs-dense",
       {"byte 210 = padding"},
       blocks_at([](int64_t row, int64_t sb,
                    const Shape& s) { return (row * s.nsb() + sb) * kBlockBytes; },
                 std::byte{0})},
      {"rows a pad short",
       "wrong-row-stride",
       {"byte 434 = padding"},
       blocks_at(
           [](int64_t row, int64_t sb, const Shape& s) {
             return row * (s.nsb() * kPaddedBlockBytes - 14) + sb * kPaddedBlockBytes;
           },
           std::byte{0})},
      {"blocks 256 apart",
       "wrong-block-stride",
       {"byte 224 = row 0, super-block 1, element 0 (ql)"},
       blocks_at([](int64_t row, int64_t sb,
                    const Shape& s) { return row * s.nsb() * kPaddedBlockBytes + sb * 256; },
                 std::byte{0})},
      {"pad left unwritten",
       "uninitialised-padding",
       {"byte 210 = padding", "448 of 7168 bytes differ"},
       padded_with(padded(), kPoison)},
      {"pad filled with 1",
       "wrong-pad-value",
       {"byte 210 = padding", "448 of 7168 bytes differ"},
       padded_with(padded(), std::byte{1})},
      {"last row of an odd od missing",
       "tail-rows-unmasked",
       {"byte 896 = row 2, super-block 0, element 0 (ql)"},
       rows_missing_from(padded(), [](const Shape& s) { return s.od() / 2 * 2; }),
       Shape{3, 512}},
  };
}

std::vector<ProducerFault> raw_faults() {
  return {
      {"one byte early",
       "alignment",
       {"byte 0 = row 0, super-block 0, element 0 (ql)"},
       early_by(1)},
      {"rows rounded up to 16 bytes",
       "wrong-row-stride",
       {"byte 420 = row 1, super-block 0, element 0 (ql)"},
       blocks_at(
           [](int64_t row, int64_t sb, const Shape& s) {
             return row * ((s.nsb() * kBlockBytes + 15) / 16 * 16) + sb * kBlockBytes;
           },
           std::byte{0})},
      {"blocks padded",
       "padded-vs-dense",
       {"byte 210 = row 0, super-block 1, element 0 (ql)"},
       blocks_at([](int64_t row, int64_t sb,
                    const Shape& s) { return (row * s.nsb() + sb) * kPaddedBlockBytes; },
                 std::byte{0})},
      {"rows swapped in pairs",
       "sub-block-order",
       {"byte 0 = row 0, super-block 0, element 0 (ql)"},
       lines_from(raw_plane(), [](int64_t row, int64_t) { return row ^ 1; })},
      {"last super-block of a row missing",
       "tail-K",
       {"byte 210 = row 0, super-block 1, element 0 (ql)"},
       [](const RawTensor& raw, Bytes plane) {
         const int64_t row_bytes = raw.shape.nsb() * kBlockBytes;
         for (int64_t row = 0; row < raw.shape.od(); ++row) {
           const auto end = plane.begin() + (row + 1) * row_bytes;
           std::fill(end - kBlockBytes, end, kPoison);
         }
       }},
  };
}

}  // namespace

std::vector<gates::Arm> block_plane_arms() {
  std::vector<gates::Arm> arms;
  for (const auto& faults : {padded_order_faults(), padded_place_faults()}) {
    for (const ProducerFault& fault : faults) {
      arms.push_back(producer_arm("padded", "padded/decode", fault));
    }
  }
  for (const ProducerFault& fault : raw_faults()) {
    arms.push_back(producer_arm("raw", "raw/expand", fault));
  }
  return arms;
}

}  // namespace planegate::mutants
