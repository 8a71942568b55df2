#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>

#include "catalog/catalog.h"
#include "mutants/launches.h"
#include "mutants/plane_edits.h"

/// A mirror that shares its producer's mistake: mirror and readback agree with each other, and only
/// the oracle, which decodes the raw tensor itself, does not. Where the device has a producer of
/// its own, that one sees it first.
namespace planegate::mutants {
namespace {

struct SharedFault {
  const char* name;
  const char* bug_class;
  const char* plane;
  const char* consumer;
  PlaneEdit edit;
  std::string says = "every address is the contract's";
  Shape shape{16, 512, 3};
  const char* first = "first: element 0 = token 0, row 0";
};

bool made_on_the_device(const std::string& plane) {
  const auto& makers = shipped_catalog().device_producers();
  return std::any_of(makers.begin(), makers.end(),
                     [&](const DeviceProducerSpec& maker) { return maker.plane->name == plane; });
}

gates::Arm mirror_arm(const SharedFault& fault) {
  gates::Arm arm;
  arm.name = fmt::format("mirror: {} {}, as in the producer", fault.plane, fault.name);
  arm.bug_class = fault.bug_class;
  arm.plane = fault.plane;
  arm.consumer = fault.consumer;
  arm.shape = fault.shape;
  arm.expected = gates::kParityRed;
  arm.must_name = {"lattice FAIL", "a mirror is wrong itself", fault.says, fault.first};
  if (made_on_the_device(fault.plane)) {
    arm.expected.readback = Verdict::kFail;
    arm.must_name = {"made FAIL", "or the mirror is wrong itself"};
  }
  arm.plant = [plane = std::string(fault.plane), edit = fault.edit](Catalog& catalog) {
    plant_edit(catalog, plane, edit, true);
  };
  return arm;
}

/// What is said where the one-hot data of the other operand's probes come from a wrong mirror.
std::string elsewhere(const std::string& planes) {
  return fmt::format("or the mirrors of {} put one-hot data elsewhere", planes);
}

PlaneEdit centred_by_31() {
  return valued(describe<q6_k::WExp>(), "codes", [](uint32_t code) { return code + 1; });
}

PlaneEdit rows_of_padded() {
  return placed(describe<q6_k::WExp>(), "codes",
                [](Place at, const Shape& s) { return at.line * s.nsb() * 224 + at.k; });
}

PlaneEdit without_swizzle() {
  return relaid(describe<q8_act::Qa8>(), "codes",
                [](FlatLayout& layout, const Shape&) { layout.swizzle = {}; });
}

PlaneEdit sign_of_sc_lost() {
  return valued(describe<q6_k::Padded>(), "sc", [](uint32_t sc) { return sc & 0x7F; });
}

PlaneEdit d_big_endian() {
  return valued(describe<q6_k::Raw>(), "d", [](uint32_t d) { return d >> 8 | (d & 0xFF) << 8; });
}

PlaneEdit chunk_before(const Contract& contract, const char* field) {
  return moved(contract, field, [](Place at, const Shape& s) {
    return Place{at.line, (at.k + s.id() - 32) % s.id()};
  });
}

}  // namespace

std::vector<gates::Arm> mirror_arms() {
  const char* const gemm = "w_exp/cp_async";
  const char* const decode = "padded/decode";
  const Contract& padded = describe<q6_k::Padded>();
  const std::vector<SharedFault> faults = {
      {"nibbles of ql swapped", "nibble-order", "padded", decode, crossed(padded, "ql", 64),
       elsewhere("padded")},
      {"pairs of qh in falling order", "sub-block-order", "padded", decode,
       crossed(padded, "qh", 96)},
      {"signs of sc lost", "sign/centering", "padded", decode, sign_of_sc_lost()},
      {"d big-endian", "endianness", "raw", "raw/expand", d_big_endian(), elsewhere("raw")},
      {"centred by 31", "sign/centering", "w_exp", gemm, centred_by_31(), elsewhere("w_exp, raw")},
      {"row stride of padded", "padded-vs-dense", "w_exp", gemm, rows_of_padded(),
       elsewhere("w_exp, raw")},
      {"16-halves swapped", "sub-block-order", "w_dsc", "padded/decode+w_dsc",
       crossed(describe<q6_k::WDsc>(), "dsc", 16)},
      {"not swizzled", "scale-plane-mismatch", "qa8", gemm, without_swizzle(),
       elsewhere("qa8, sda"), Shape{16, 512, 64}, "first: element 64 = token 4, row 0"},
      {"d of the chunk before", "scale-plane-mismatch", "sda", gemm,
       chunk_before(describe<q8_act::Sda>(), "d")},
      {"d of the chunk before", "scale-plane-mismatch", "pad40", decode,
       chunk_before(describe<q8_act::Pad40>(), "d")},
  };
  std::vector<gates::Arm> arms;
  for (const SharedFault& fault : faults) arms.push_back(mirror_arm(fault));
  return arms;
}

}  // namespace planegate::mutants
