#include <set>

#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/devices/host_device.h>

#include "gates/faults.h"
#include "gates/parity.h"
#include "gates/plane_gates.h"
#include "tests/extreme_contents.h"
#include "tests/gate_tests.h"

/// Activations at the edges of what the quantiser takes, against every plane and consumer.
namespace planegate {
namespace {

using extremes::activation_contents;
using extremes::extreme_activations;
using extremes::ExtremeTensor;

std::vector<Shape> activation_shapes() {
  const auto n = static_cast<int64_t>(activation_contents().size());
  return {Shape(1, 256, n), Shape(1, 512, 4 * n + 1), Shape(1, 768, 1)};
}

/// The mirror gate of one activation plane on extreme activations.
GateReport activation_mirror(const ProducerSpec& producer, const Shape& shape) {
  const Catalog& catalog = shipped_catalog();
  const auto device = make_host_device();
  const gates::Context context{catalog, *device, 1};
  const auto x = extreme_activations(shape);
  const RawTensor f32{"x", "f32", shape, std::as_bytes(std::span(x))};
  const auto chunks = catalog.format("q8_0")->quantise(f32);
  SealedBytes mirror(producer.plane->size_bytes(shape));
  catalog.mirror(*producer.plane).write({"x", "q8_0", shape, chunks}, mirror.writable());
  mirror.seal();
  return gates::mirror_gate(context, producer, "x", f32, std::move(mirror)).report;
}

std::vector<ProducerSpec> activation_producers() {
  std::vector<ProducerSpec> producers;
  for (const ProducerSpec& producer : shipped_catalog().producers()) {
    if (producer.plane->role == Role::kActivations) producers.push_back(producer);
  }
  return producers;
}

TEST(ExtremeActivations, AreGreenInTheMirrorOfEveryPlane) {
  EXPECT_GE(activation_producers().size(), 2u);
  for (const ProducerSpec& producer : activation_producers()) {
    for (const Shape& shape : activation_shapes()) {
      const GateReport report = activation_mirror(producer, shape);
      EXPECT_EQ(report.verdict, Verdict::kPass) << text(report);
    }
  }
}

TEST(ExtremeActivations, ShowOneFlippedBitOfEveryPlane) {
  for (const ProducerSpec& producer : activation_producers()) {
    for (const Shape& shape : activation_shapes()) {
      const int64_t last = producer.plane->size_bytes(shape) - 1;
      const GateReport report = activation_mirror(gates::flipping(producer, {last, 3}), shape);
      EXPECT_EQ(report.verdict, Verdict::kFail) << producer.name;
      EXPECT_EQ(report.difference.count, 1) << producer.name;
    }
  }
}

TEST(ExtremeActivations, ReachTheCodesAndScalesThatTheyAreNamedFor) {
  const Shape shape(1, 256, static_cast<int64_t>(activation_contents().size()));
  const auto x = extreme_activations(shape);
  const auto chunks =
      shipped_catalog().format("q8_0")->quantise({"x", "f32", shape, std::as_bytes(std::span(x))});
  std::set<uint16_t> scales;
  std::set<int> codes;
  for (size_t at = 0; at < chunks.size(); at += 34) {
    scales.insert(oracle::load_f16(&chunks[at]));
    for (size_t e = 2; e < 34; ++e) codes.insert(static_cast<int8_t>(chunks[at + e]));
  }
  EXPECT_EQ(std::pair(*codes.begin(), *codes.rbegin()), std::pair(-127, 127));
  for (const int wanted : {0x0000, 0x0001, 0x7bff}) {
    EXPECT_EQ(scales.count(static_cast<uint16_t>(wanted)), 1u) << wanted;
  }
  EXPECT_EQ(*scales.rbegin(), extremes::kLargest);
}

// amax * 1/(amax/127) is 127 within 2^-20, also where the scale is subnormal in f32: the clamp at
// -128 is never met.
TEST(ExtremeActivations, MapAmaxTo127OrToZeroWhateverItsSize) {
  std::vector<float> x;
  for (int exponent = -149; exponent < 22; ++exponent) {
    for (int m = 0; m < 64; ++m) {
      x.resize(x.size() + 32);
      x[x.size() - 32] = std::ldexp(1 + static_cast<float>(m) / 64, exponent);
      x[x.size() - 31] = -x[x.size() - 32];
    }
  }
  const Shape shape(1, 32, static_cast<int64_t>(x.size() / 32));
  const auto chunks =
      shipped_catalog().format("q8_0")->quantise({"x", "f32", shape, std::as_bytes(std::span(x))});
  std::set<std::pair<int, int>> codes;
  for (size_t at = 0; at < chunks.size(); at += 34) {
    codes.emplace(static_cast<int8_t>(chunks[at + 2]), static_cast<int8_t>(chunks[at + 3]));
  }
  EXPECT_EQ(codes, (std::set<std::pair<int, int>>{{0, 0}, {127, -127}}));
}

TEST(ExtremeActivations, AreWithinTheBoundOfEveryConsumerOnExtremeWeights) {
  const auto nt = static_cast<int64_t>(activation_contents().size());
  const auto device = make_host_device();
  gates::Context context{shipped_catalog(), *device, 1};
  const FormatOracle& q8_0 = *shipped_catalog().format("q8_0");
  for (const ConsumerSpec& consumer : shipped_catalog().consumers()) {
    for (const int64_t tokens : {int64_t{1}, nt}) {
      const ExtremeTensor tensor = extremes::one_content_a_row(2, tokens);
      if (consumer.refusal(tensor.shape)) continue;
      const auto x = extreme_activations(tensor.shape);
      gates::Dataset file(context, "file", tensor.raw, q8_0,
                          q8_0.quantise({"x", "f32", tensor.shape, std::as_bytes(std::span(x))}));
      file.ensure_planes(consumer);
      const GateReport report =
          gates::bound(context, consumer, file, gates::run(context, consumer, file));
      EXPECT_EQ(report.verdict, Verdict::kPass) << text(report) << tensor.legend();
    }
  }
}

TEST(ExtremeActivations, AreRefusedByEveryProducerWhereTheQuantiserRefuses) {
  const Shape shape(1, 256, 3);
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF, 127 * 65520.0f, -0x1.fffffep127f}) {
    std::vector<float> x(3 * 256, 1.0f);
    x[2 * 256 + 40] = bad;
    const RawTensor f32{"x", "f32", shape, std::as_bytes(std::span(x))};
    EXPECT_THROW((void)shipped_catalog().format("q8_0")->quantise(f32), ContractError) << bad;
    for (const ProducerSpec& producer : activation_producers()) {
      std::vector<std::byte> plane(static_cast<size_t>(producer.plane->size_bytes(shape)));
      EXPECT_THROW(producer.write(f32, plane), ContractError) << producer.name << bad;
    }
  }
}

}  // namespace
}  // namespace planegate
