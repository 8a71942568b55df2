#include <gtest/gtest.h>

#include "gates/faults.h"
#include "tests/gate_tests.h"
#include "tests/golden.h"

/// The words of real failures, pinned. PLANEGATE_WRITE_GOLDEN=1 writes them anew.
namespace planegate {
namespace {

using test::expect_golden;

std::string told(const Catalog& catalog, Device& device, const std::string& gate,
                 const std::string& subject, const std::string& consumer) {
  const SampleTensor tensor(catalog, "q6_K", Shape(70, 512, 3));
  gates::Context context{catalog, device, 1, [](const std::string& name, const std::string& what) {
                           return "planegate verify --tensor '" + name + "' " + what;
                         }};
  const auto reports = gates::verify_tensor(context, tensor.raw, {{}, {consumer}});
  const GateReport* report = find_report(reports, gate, subject);
  return report == nullptr ? "absent" : text(*report);
}

constexpr gates::BitFlip kFlip{17923, 6};

TEST(GateTexts, Mirror) {
  Catalog faulty = shipped_catalog();
  faulty.replace(gates::flipping(*faulty.producer("w_exp"), kFlip));
  const auto device = make_host_device();
  expect_golden(told(faulty, *device, "mirror", "q6_K/w_exp", "w_exp/copy16"), "gate_mirror.txt");
}

TEST(GateTexts, Readback) {
  std::string why_not;
  const auto device =
      gates::make_flipping_device(DeviceKind::kHost, "x of sample.weight/sda", {1026, 5}, why_not);
  expect_golden(told(shipped_catalog(), *device, "readback", "q8_0/sda", "w_exp/copy16"),
                "gate_readback.txt");
}

TEST(GateTexts, Parity) {
  const std::string consumer = "w_exp/cp_async+padded_address";
  const auto device = make_host_device();
  expect_golden(told(catalog_with_known_bad(), *device, "parity", consumer, consumer),
                "gate_parity.txt");
}

TEST(GateTexts, ChainBehindARedParity) {
  const std::string consumer = "w_exp/copy16+padded_address";
  const auto device = make_host_device();
  expect_golden(told(catalog_with_known_bad(), *device, "chain", consumer, consumer),
                "gate_chain.txt");
}

TEST(GateTexts, ParityPass) {
  const auto device = make_host_device();
  expect_golden(told(shipped_catalog(), *device, "parity", "raw/expand", "raw/expand"),
                "gate_parity_pass.txt");
}

}  // namespace
}  // namespace planegate
