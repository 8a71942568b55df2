#include <bit>
#include <cmath>
#include <cstring>

#include <planegate/devices/device.h>
#include <planegate/formats/q6_k/contracts.h>

#include "mutants/plane_edits.h"

/// Producers of w_dsc: products d*sc, chunk-major, rows rounded up to even.
namespace planegate::mutants {
namespace {

using q6_k::kBlockBytes;
using q6_k::Raw;
using q6_k::WDsc;

const Contract& w_dsc() {
  return describe<WDsc>();
}

float value_of(uint32_t f16_bits) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(f16_bits)));
}

uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}

/// d and sc of the raw tensor's sub-block, d of the super-block `ahead` further.
struct Scales {
  uint32_t d, sc;
};
Scales scales_at(const RawTensor& raw, Place at, int64_t ahead = 0) {
  const Values d(describe<Raw>(), raw.shape, "d");
  const Values sc(describe<Raw>(), raw.shape, "sc");
  const int64_t k = (at.k / kSuperBlockElems + ahead) * kSuperBlockElems % raw.shape.id();
  return {d.get(raw.bytes, {at.line, k}), sc.get(raw.bytes, at)};
}

uint32_t by_unsigned_sc(const RawTensor& raw, Place at) {
  const Scales scales = scales_at(raw, at);
  return bits_of(value_of(scales.d) * static_cast<float>(scales.sc));
}

uint32_t by_d_of_next(const RawTensor& raw, Place at) {
  const Scales scales = scales_at(raw, at, 1);
  return bits_of(value_of(scales.d) * static_cast<float>(static_cast<int8_t>(scales.sc)));
}

uint32_t with_subnormals_flushed(const RawTensor& raw, Place at) {
  const Scales scales = scales_at(raw, at);
  const float d = (scales.d & 0x7C00) == 0 ? 0.0f : value_of(scales.d);
  return bits_of(d * static_cast<float>(static_cast<int8_t>(scales.sc)));
}

uint32_t rounded_to_f16(uint32_t bits) {
  return bits_of(static_cast<float>(static_cast<_Float16>(std::bit_cast<float>(bits))));
}

uint32_t bytes_reversed(uint32_t bits) {
  return bits >> 24 | (bits >> 8 & 0xFF00) | (bits << 8 & 0xFF0000) | bits << 24;
}

/// d of block (1, 1) becomes subnormal.
void put_subnormal_d(const Shape& shape, Bytes tensor) {
  constexpr uint16_t kSubnormal = 0x0155;
  const int64_t block = shape.nsb() + 1;
  std::memcpy(tensor.data() + block * kBlockBytes + 208, &kSubnormal, sizeof kSubnormal);
}

FlatLayout::Term& term_of(FlatLayout& layout, Axis axis, int64_t div) {
  FlatLayout::Term* term = layout.terms;
  while (term->axis != axis || term->div != div) ++term;
  return *term;
}

PlaneEdit chunks_apart(int64_t (*rows)(const Shape&)) {
  return relaid(w_dsc(), "dsc", [rows](FlatLayout& layout, const Shape& shape) {
    term_of(layout, Axis::kK, 32).stride_bits = 64 * rows(shape);
  });
}

/// The pads of the row that an odd od is rounded up by hold `value`.
PlaneEdit pad_row(float value) {
  return [value](const RawTensor& raw, Bytes plane) {
    const int64_t line_bytes = 8 * (raw.shape.od() + 1);
    for (int64_t end = line_bytes; end <= std::ssize(plane); end += line_bytes) {
      const float pair[2] = {value, value};
      std::memcpy(plane.data() + end - sizeof pair, pair, sizeof pair);
    }
  };
}

void skip_last_chunk(const RawTensor& raw, Bytes plane) {
  const int64_t line_bytes = std::ssize(plane) / (raw.shape.id() / 32);
  std::fill(plane.end() - line_bytes, plane.end(), kPoison);
}

std::vector<ProducerFault> arithmetic_faults() {
  return {
      {"sc taken as unsigned",
       "sign/centering",
       {"row 1, super-block 0, element 16 (dsc)"},
       recomputed(w_dsc(), "dsc", by_unsigned_sc)},
      {"d of the next super-block",
       "scale-plane-mismatch",
       {"row 0, super-block 0, element 0 (dsc)"},
       recomputed(w_dsc(), "dsc", by_d_of_next)},
      {"products rounded to f16",
       "scale-plane-mismatch",
       {"row 0, super-block 0, element 16 (dsc)"},
       valued(w_dsc(), "dsc", rounded_to_f16)},
      {"products big-endian",
       "endianness",
       {"byte 0 = row 0, super-block 0, element 0 (dsc)"},
       valued(w_dsc(), "dsc", bytes_reversed)},
      {"16-halves swapped",
       "sub-block-order",
       {"row 0, super-block 0, element 0 (dsc)"},
       crossed(w_dsc(), "dsc", 16)},
      {"rows swapped in pairs",
       "sub-block-order",
       {"byte 0 = row 0, super-block 0, element 0 (dsc)"},
       lines_from(w_dsc(), [](int64_t row, int64_t) { return row ^ 1; })},
      {"second K shard begins a sub-block early",
       "TP-shard-offset",
       {"row 0, super-block 1, element 0 (dsc)"},
       moved(w_dsc(), "dsc",
             [](Place at, const Shape& s) {
               return at.k < s.id() / 2 ? at : Place{at.line, at.k - 16};
             })},
  };
}

std::vector<ProducerFault> place_faults() {
  const Shape odd{3, 512};
  return {
      {"rows not rounded up to even",
       "scale-plane-mismatch",
       {"= padding"},
       chunks_apart([](const Shape& s) { return s.od(); }),
       odd},
      {"column pad from the chunk count",
       "scale-plane-mismatch",
       {"row 0, super-block 0, element 32 (dsc)"},
       chunks_apart([](const Shape& s) { return s.id() / 32; }),
       Shape{8, 512}},
      {"row-major",
       "scale-plane-mismatch",
       {"row 1, super-block 0, element 0 (dsc)"},
       relaid(w_dsc(), "dsc",
              [](FlatLayout& layout, const Shape& s) {
                term_of(layout, Axis::kK, 32).stride_bits = 64;
                term_of(layout, Axis::kRow, 1).stride_bits = 2 * s.id();
              })},
      {"pad row left unwritten",
       "uninitialised-padding",
       {"byte 24 = padding", "128 of 512 bytes differ"},
       padded_with(w_dsc(), kPoison),
       odd},
      {"pad row filled with 1",
       "wrong-pad-value",
       {"byte 26 = padding", "64 of 512 bytes differ"},
       pad_row(1.0f),
       odd},
      {"last chunk skipped",
       "tail-K",
       {"row 0, super-block 1, element 224 (dsc)"},
       skip_last_chunk},
      {"last row of an odd od missing",
       "tail-rows-unmasked",
       {"row 2, super-block 0, element 0 (dsc)"},
       [](const RawTensor& raw, Bytes plane) {
         const Values dsc(w_dsc(), raw.shape, "dsc");
         dsc.for_each([&](Place at) {
           if (at.line == raw.shape.od() - 1) dsc.set(plane, at, 0);
         });
       },
       odd},
  };
}

gates::Arm subnormal_arm() {
  const ProducerFault fault = {"subnormal d flushed to zero",
                               "scale-plane-mismatch",
                               {"row 1, super-block 1, element 0 (dsc)"},
                               recomputed(w_dsc(), "dsc", with_subnormals_flushed)};
  gates::Arm arm = producer_arm("w_dsc", "padded/decode+w_dsc", fault);
  arm.plant = [plant = arm.plant](Catalog& catalog) {
    plant(catalog);
    plant_sample(catalog, q6_k::kFormat, put_subnormal_d);
  };
  return arm;
}

}  // namespace

std::vector<gates::Arm> w_dsc_arms() {
  std::vector<gates::Arm> arms;
  for (const auto& faults : {arithmetic_faults(), place_faults()}) {
    for (const ProducerFault& fault : faults) {
      arms.push_back(producer_arm("w_dsc", "padded/decode+w_dsc", fault));
    }
  }
  arms.push_back(subnormal_arm());
  return arms;
}

}  // namespace planegate::mutants
