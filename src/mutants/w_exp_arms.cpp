#include <algorithm>
#include <cstring>

#include <planegate/devices/device.h>
#include <planegate/formats/q6_k/contracts.h>

#include "mutants/plane_edits.h"

/// Producers of w_exp: codes expanded, centred, and put where no row is padded.
namespace planegate::mutants {
namespace {

using q6_k::kCentre;
using q6_k::Raw;
using q6_k::WExp;

const Contract& w_exp() {
  return describe<WExp>();
}

uint32_t word(int code) {
  return static_cast<uint32_t>(code);
}

/// The code of (row, k) decoded wrongly: `low_mask` and `high_mask` move the places that ql and qh
/// are read at, `high_shift` is where qh goes.
PlaneEdit decoded(int64_t low_mask, int64_t high_mask, int high_shift = 4) {
  return recomputed(w_exp(), "codes", [=](const RawTensor& raw, Place at) {
    const Values ql(describe<Raw>(), raw.shape, "ql");
    const Values qh(describe<Raw>(), raw.shape, "qh");
    const uint32_t low = ql.get(raw.bytes, {at.line, at.k ^ low_mask});
    const uint32_t high = qh.get(raw.bytes, {at.line, at.k ^ high_mask});
    return (low | high << high_shift) - word(kCentre);
  });
}

PlaneEdit coded(int (*change)(int code)) {
  return valued(w_exp(), "codes",
                [change](uint32_t bits) { return word(change(static_cast<int8_t>(bits))); });
}

/// The last 32 elements of each row were never written.
void skip_last_chunk(const RawTensor& raw, Bytes plane) {
  const int64_t id = raw.shape.id();
  for (int64_t row = 0; row < raw.shape.od(); ++row) {
    const auto end = plane.begin() + (row + 1) * id;
    std::fill(end - 32, end, kPoison);
  }
}

std::vector<ProducerFault> decoding_faults() {
  return {
      {"nibbles swapped",
       "nibble-order",
       {"byte 0 = row 0, super-block 0, element 0 (codes)"},
       decoded(64, 0)},
      {"pairs of qh in falling order",
       "sub-block-order",
       {"row 0, super-block 0, element"},
       decoded(0, 96)},
      {"high bits shifted by 3",
       "sign/centering",
       {"row 0, super-block 0, element"},
       decoded(0, 0, 3)},
      {"centred by 31",
       "sign/centering",
       {"byte 0 = row 0, super-block 0, element 0 (codes)", "8192 of 8192 bytes differ"},
       coded([](int code) { return code + 1; })},
      {"not centred",
       "sign/centering",
       {"byte 0 = row 0, super-block 0, element 0 (codes)", "8192 of 8192 bytes differ"},
       coded([](int code) { return code + kCentre; })},
      {"largest code saturates at 30",
       "sign/centering",
       {"(codes)", "[1f]", "[1e]"},
       coded([](int code) { return std::min(code, 30); })},
      {"smallest code saturates at -31",
       "sign/centering",
       {"(codes)", "[e0]", "[e1]"},
       coded([](int code) { return std::max(code, -31); })},
      {"signs lost",
       "sign/centering",
       {"byte 1 = row 0, super-block 0, element 1 (codes)"},
       coded([](int code) { return std::abs(code); })},
  };
}

std::vector<ProducerFault> order_faults() {
  return {
      {"halves of the super-block swapped",
       "sub-block-order",
       {"byte 0 = row 0, super-block 0, element 0 (codes)"},
       crossed(w_exp(), "codes", 128)},
      {"gate and up rows swapped",
       "sub-block-order",
       {"byte 0 = row 0, super-block 0, element 0 (codes)"},
       lines_from(w_exp(), [](int64_t row, int64_t od) { return (row + od / 2) % od; })},
      {"rows interleaved by 4",
       "sub-block-order",
       {"byte 512 = row 1, super-block 0, element 0 (codes)"},
       lines_from(w_exp(),
                  [](int64_t row, int64_t) { return row / 8 * 8 + row % 4 * 2 + row % 8 / 4; })},
      {"last chunk of each row skipped",
       "tail-K",
       {"byte 480 = row 0, super-block 1, element 224 (codes)", "512 of 8192 bytes differ"},
       skip_last_chunk},
      {"second K shard cut inside a group",
       "TP-shard-offset",
       {"byte 256 = row 0, super-block 1, element 0 (codes)"},
       moved(w_exp(), "codes",
             [](Place at, const Shape& s) {
               return at.k < s.id() / 2 ? at : Place{at.line, at.k - 8};
             })},
      {"second row shard begins a row early",
       "TP-shard-offset",
       {"byte 4096 = row 8, super-block 0, element 0 (codes)"},
       lines_from(w_exp(), [](int64_t row, int64_t od) { return row < od / 2 ? row : row - 1; })},
  };
}

std::vector<ProducerFault> place_faults() {
  return {
      {"row stride of padded",
       "padded-vs-dense",
       {"row 0, super-block 1, element 192 (codes)"},
       placed(w_exp(), "codes",
              [](Place at, const Shape& s) { return at.line * s.nsb() * 224 + at.k; })},
      {"super-blocks 224 apart",
       "wrong-block-stride",
       {"row 0, super-block 0, element 224 (codes)"},
       placed(w_exp(), "codes",
              [](Place at, const Shape& s) {
                return at.line * s.id() + at.k / 256 * 224 + at.k % 256;
              })},
      {"row stride of packed nibbles",
       "wrong-row-stride",
       {"row 0, super-block 1, element 0 (codes)"},
       placed(w_exp(), "codes",
              [](Place at, const Shape& s) { return at.line * s.id() / 2 + at.k; })},
      {"one byte early",
       "alignment",
       {"byte 0 = row 0, super-block 0, element 0 (codes)"},
       early_by(1)},
      {"offsets cut to 16 bits",
       "int32-overflow",
       {"byte 0 = row 0, super-block 0, element 0 (codes)"},
       placed(w_exp(), "codes",
              [](Place at, const Shape& s) { return (at.line * s.id() + at.k) & 0xFFFF; }),
       Shape{129, 512}},
  };
}

}  // namespace

std::vector<gates::Arm> w_exp_arms() {
  std::vector<gates::Arm> arms;
  for (const auto& faults : {decoding_faults(), order_faults(), place_faults()}) {
    for (const ProducerFault& fault : faults) {
      arms.push_back(producer_arm("w_exp", "w_exp/cp_async", fault));
    }
  }
  return arms;
}

}  // namespace planegate::mutants
