#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/devices/host_device.h>
#include <planegate/formats/q6_k/contracts.h>

#include "gates/addresses.h"
#include "tests/gate_tests.h"

namespace planegate::gates {
namespace {

using testing::HasSubstr;

class Tomography : public testing::Test {
 protected:
  const ConsumerSpec& consumer(const std::string& name) const { return *catalog_.consumer(name); }
  GateReport found(const ConsumerSpec& spec, const Shape& shape) {
    return addresses(context_, spec, "t", shape);
  }
  GateReport found(const std::string& name, const Shape& shape) {
    return found(consumer(name), shape);
  }

  const Catalog catalog_ = catalog_with_known_bad();
  HostDevice device_;
  Context context_{catalog_, device_};
};

TEST_F(Tomography, RecoversEveryAddressOfEveryConsumer) {
  for (const ConsumerSpec& spec : shipped_catalog().consumers()) {
    for (const Shape& shape : {Shape(3, 256, 5), Shape(66, 512, 8)}) {
      const GateReport report = found(spec, shape);
      EXPECT_EQ(report.verdict, Verdict::kPass) << spec.name << "\n" << text(report);
      EXPECT_GT(report.compared, 100);
    }
  }
}

TEST_F(Tomography, ProbesSmallTensorsWholly) {
  const Tomogram tomogram = observe(context_, consumer("w_exp/copy16"),
                                    consumer("w_exp/copy16").reads.front(), Shape(2, 512, 1));
  EXPECT_EQ(tomogram.failure, "");
  EXPECT_EQ(tomogram.probes.size(), 2u * 512u);
  for (size_t i = 0; i < tomogram.probes.size(); ++i) {
    const Probe& at = tomogram.probes[i];
    ASSERT_EQ(tomogram.fields[0].offset_bits[i][0], 8 * (at.line * 512 + at.k));
  }
}

TEST_F(Tomography, NamesTheStridesOfThePaddedExpression) {
  for (const char* stage : {"w_exp/bytewise", "w_exp/copy16", "w_exp/cp_async"}) {
    const GateReport report = found(std::string(stage) + "+padded_address", Shape(70, 512, 5));
    EXPECT_EQ(report.verdict, Verdict::kFail);
    EXPECT_EQ(report.diagnosis,
              "codes of w_exp: row stride 448, contract 512 (id); it is the row stride of plane "
              "padded (nsb*224); sb stride 224, contract 256 (256); it is the sb stride of plane "
              "padded (224)");
  }
}

TEST_F(Tomography, NamesTheOneStrideThatOneSuperBlockShows) {
  const GateReport report = found("w_exp/copy16+padded_address", Shape(2, 256, 1));
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_THAT(report.diagnosis, HasSubstr("row stride 224, contract 256"));
  EXPECT_THAT(report.diagnosis, testing::Not(HasSubstr("sb stride")));
}

TEST_F(Tomography, SaysWhatTheShapeLeavesUndetermined) {
  const GateReport report = found("w_exp/copy16+padded_address", Shape(1, 256, 1));
  EXPECT_EQ(report.verdict, Verdict::kPass) << "od=1, nsb=1 use neither stride";
  EXPECT_THAT(report.notes.front(), HasSubstr("row, sb"));
}

TEST_F(Tomography, ReportsAKernelThatComputesSomethingElse) {
  ConsumerSpec constant = consumer("w_exp/copy16");
  constant.launches = {
      {DeviceKind::kHost, [](Device& device, const LaunchRequest& request) {
         shipped_catalog().consumer("w_exp/copy16")->launch_on(DeviceKind::kHost)(device, request);
         auto& host = dynamic_cast<HostDevice&>(device);
         const auto y = host.resolve(request.y->address());
         host.enqueue([y] { std::fill(y.begin(), y.end(), std::byte{0x40}); });
       }}};
  const GateReport report = found(constant, Shape(3, 512, 2));
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_THAT(report.diagnosis, HasSubstr("a value that no choice of bytes decodes to"));
}

/// A map that was made up: rows in another order, which no strides explain.
Tomogram permuted() {
  Tomogram tomogram;
  tomogram.plane = &describe<q6_k::WExp>();
  tomogram.shape = Shape(8, 512, 1);
  tomogram.fields.push_back({&tomogram.plane->fields.front(), {}});
  for (int64_t row = 0; row < 8; ++row) {
    for (const int64_t k : {0, 1, 255, 256, 300}) {
      tomogram.probes.push_back({row, k});
      tomogram.fields[0].offset_bits.push_back(
          {8 * ((row ^ (row >= 4 ? 1 : 0)) * 512 + k), 0, 0, 0});
    }
  }
  return tomogram;
}

TEST(Explain, SaysWhereAMapStopsBeingStrided) {
  const Explanation explanation = explain(permuted(), shipped_catalog());
  EXPECT_EQ(explanation.differing, 4 * 5);
  EXPECT_EQ(
      explanation.sentence,
      "codes of w_exp: no strided map; first break at codes of row 4, k 0: read at byte 2560, "
      "contract 2048");
}

TEST(Explain, NamesAShiftedBase) {
  Tomogram tomogram = permuted();
  for (size_t i = 0; i < tomogram.probes.size(); ++i) {
    const Probe& at = tomogram.probes[i];
    tomogram.fields[0].offset_bits[i][0] = 8 * (at.line * 512 + at.k + 16);
  }
  EXPECT_EQ(explain(tomogram, shipped_catalog()).sentence, "codes of w_exp: base 16, contract 0");
}

}  // namespace
}  // namespace planegate::gates
