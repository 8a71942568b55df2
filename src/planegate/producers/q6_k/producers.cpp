#include <cstring>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/producers/q6_k/producers.h>

namespace planegate::producers::q6_k {
namespace {

using planegate::q6_k::kBlockBytes;
using planegate::q6_k::kCentre;
using planegate::q6_k::kFormat;
using planegate::q6_k::Raw;
using planegate::q6_k::WExp;

constexpr int64_t kQhOffset = 128;
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

}  // namespace

void register_producers(Catalog& catalog) {
  catalog.add(ProducerSpec{"host raw", kFormat, &describe<Raw>(), write_raw});
  catalog.add(ProducerSpec{"host w_exp", kFormat, &describe<WExp>(), write_w_exp});
}

}  // namespace planegate::producers::q6_k
