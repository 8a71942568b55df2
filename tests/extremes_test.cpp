#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/devices/host_device.h>

#include "gates/faults.h"
#include "gates/parity.h"
#include "tests/extreme_contents.h"
#include "tests/gate_tests.h"

/// Weights at the edges of what q6_K can hold: every gate computes with them, is green on right
/// planes and stays sharp.
namespace planegate {
namespace {

using extremes::ExtremeTensor;
using extremes::one_content_a_row;
using testing::HasSubstr;

void expect_all_green(const Catalog& catalog, const ExtremeTensor& tensor) {
  const auto device = make_host_device();
  gates::Context context{catalog, *device, 1};
  const auto reports = gates::verify_tensor(context, tensor.raw, {});
  std::set<std::string> subjects;
  for (const GateReport& report : reports) {
    EXPECT_TRUE(report.verdict == Verdict::kPass || report.refused)
        << text(report) << tensor.legend();
    if (report.verdict == Verdict::kPass) subjects.insert(report.gate + report.subject);
  }
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    if (consumer.refusal(tensor.shape)) continue;
    EXPECT_EQ(subjects.count("parity" + consumer.name), 1u) << consumer.name;
    EXPECT_EQ(subjects.count("chain" + consumer.name), 1u) << consumer.name;
  }
}

TEST(ExtremeWeights, AreGreenWithOneContentARow) {
  expect_all_green(shipped_catalog(), one_content_a_row(1, 1));
}

TEST(ExtremeWeights, AreGreenWhereContentsAlternateAlongK) {
  expect_all_green(shipped_catalog(), {37, 2, 9, 7});
}

/// Y* of `tensor` with the activations that verify_tensor makes of `seed`.
oracle::Reference reference_of(const ExtremeTensor& tensor, const Arithmetic& arithmetic,
                               uint64_t seed) {
  const Catalog& catalog = shipped_catalog();
  const auto x = gates::sample_activations(tensor.shape, seed);
  const auto chunks =
      catalog.format("q8_0")->quantise({"x", "f32", tensor.shape, std::as_bytes(std::span(x))});
  return oracle::gemm(*catalog.format("q6_K"), tensor.raw, *catalog.format("q8_0"),
                      {"x", "q8_0", tensor.shape, chunks}, arithmetic);
}

// The smallest scales beside the largest: an error of 2^-10 must show in each row that is not 0.
TEST(ExtremeWeights, LeaveTheBoundSharpInEveryRow) {
  const ExtremeTensor tensor = one_content_a_row(2, 2);
  for (const ConsumerSpec& consumer : shipped_catalog().consumers()) {
    const oracle::Reference reference = reference_of(tensor, consumer.arithmetic, 1);
    const double sharpness = 0x1p-10 + 64 * consumer.arithmetic.operand_relative;
    std::set<std::string> sharp;
    std::set<std::string> zero;
    for (size_t i = 0; i < reference.y.size(); ++i) {
      const size_t row = i % static_cast<size_t>(tensor.shape.od()) % tensor.contents.size();
      const double y = std::fabs(reference.y[i]);
      if (reference.magnitude[i] == 0) zero.insert(tensor.contents[row].name);
      if (y * sharpness > reference.bound[i]) sharp.insert(tensor.contents[row].name);
    }
    EXPECT_EQ(sharp.size() + zero.size(), tensor.contents.size()) << consumer.name;
    EXPECT_EQ(zero, (std::set<std::string>{"all codes 32", "sc 0 and 0", "d 0x0000", "d 0x8000",
                                           "byte 5 0xff, d 0x0000, sc 0"}));
  }
}

/// `launch` of w_exp/cp_async, then every element of Y doubled.
void doubling_launch(Device& device, const LaunchRequest& request) {
  shipped_catalog().consumer("w_exp/cp_async")->launch_on(DeviceKind::kHost)(device, request);
  auto& host = dynamic_cast<HostDevice&>(device);
  const auto bytes = host.resolve(request.y->address());
  const int64_t elements = request.shape.nt() * request.shape.od();
  host.enqueue([bytes, elements] {
    std::vector<float> y(static_cast<size_t>(elements));
    std::memcpy(y.data(), bytes.data(), y.size() * sizeof(float));
    for (float& element : y) element *= 2;
    std::memcpy(bytes.data(), y.data(), y.size() * sizeof(float));
  });
}

TEST(ExtremeWeights, TurnTheBoundRedInEveryElementThatIsNotZero) {
  const ExtremeTensor tensor = one_content_a_row(2, 2);
  ConsumerSpec consumer = *shipped_catalog().consumer("w_exp/cp_async");
  consumer.launches = {{DeviceKind::kHost, doubling_launch}};
  const auto device = make_host_device();
  gates::Context context{shipped_catalog(), *device, 1};
  const FormatOracle& q8_0 = *shipped_catalog().format("q8_0");
  const auto x = gates::sample_activations(tensor.shape, 1);
  gates::Dataset file(context, "file", tensor.raw, q8_0,
                      q8_0.quantise({"x", "f32", tensor.shape, std::as_bytes(std::span(x))}));
  file.ensure_planes(consumer);
  const GateReport bound =
      gates::bound(context, consumer, file, gates::run(context, consumer, file));
  const gates::Expected reference = file.reference(consumer.arithmetic);
  EXPECT_EQ(bound.verdict, Verdict::kFail);
  EXPECT_EQ(bound.difference.count,
            std::count_if(reference.y.begin(), reference.y.end(), [](double y) { return y != 0; }));
}

TEST(ExtremeWeights, ShowOneFlippedBitOfEveryPlane) {
  const ExtremeTensor tensor = one_content_a_row(1, 1);
  Catalog catalog;
  for (const ProducerSpec& producer : shipped_catalog().producers()) {
    catalog.add(gates::flipping(producer, {1, 7}));
    catalog.add(shipped_catalog().mirror(*producer.plane));
  }
  for (const FormatOracle& format : shipped_catalog().formats()) catalog.add(format);
  const auto device = make_host_device();
  gates::Context context{catalog, *device, 1};
  size_t mirrors = 0;
  for (const GateReport& report : gates::verify_tensor(context, tensor.raw, {})) {
    if (report.gate != "mirror") continue;
    ++mirrors;
    EXPECT_EQ(report.verdict, Verdict::kFail) << report.subject;
    EXPECT_EQ(report.difference.count, 1) << report.subject;
  }
  EXPECT_EQ(mirrors, catalog.producers().size());
}

class NonFiniteScales : public testing::TestWithParam<uint16_t> {};

std::vector<GateReport> verified_with(const std::vector<size_t>& blocks, uint16_t d_bits) {
  const Catalog& catalog = shipped_catalog();
  SampleTensor tensor(catalog, "q6_K", Shape(5, 768, 2));
  for (const size_t block : blocks) {
    oracle::store_f16(d_bits, &tensor.bytes[block * extremes::kBlockBytes + extremes::kD]);
  }
  const auto device = make_host_device();
  gates::Context context{catalog, *device, 1};
  return gates::verify_tensor(context, tensor.raw, {});
}

TEST_P(NonFiniteScales, AreAVerdictWithRowAndSuperBlockAndNothingElse) {
  const struct {
    std::vector<size_t> blocks;
    const char* first;
  } cases[] = {{{0}, "row 0, super-block 0"},
               {{14}, "row 4, super-block 2"},
               {{2}, "row 0, super-block 2"},
               {{0, 14}, "row 0, super-block 0"}};
  for (const auto& [blocks, first] : cases) {
    const auto reports = verified_with(blocks, GetParam());
    ASSERT_EQ(reports.size(), 1u) << first;
    EXPECT_EQ(reports[0].gate, "scales");
    EXPECT_EQ(reports[0].verdict, Verdict::kFail);
    EXPECT_EQ(reports[0].difference.first, first);
    EXPECT_THAT(reports[0].diagnosis, HasSubstr(fmt::format("0x{:04x}", GetParam())));
  }
}

INSTANTIATE_TEST_SUITE_P(InfinitiesAndNaNs, NonFiniteScales,
                         testing::Values(0x7c00, 0xfc00, 0x7c01, 0x7dff, 0x7e00, 0x7fff, 0xfc01,
                                         0xfe00, 0xffff));

}  // namespace
}  // namespace planegate
