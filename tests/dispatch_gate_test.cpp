#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/devices/host_device.h>

#include "gates/consumer_run.h"
#include "tests/gate_tests.h"

namespace planegate {
namespace {

using testing::HasSubstr;

/// The dispatch report of a small tensor under `switches`.
GateReport dispatched(const Catalog& catalog, const std::string& switches, int64_t nt = 9) {
  const SampleTensor tensor(catalog, "q6_K", Shape(70, 512, nt));
  const auto device = make_host_device();
  gates::Context context{catalog, *device};
  gates::Selection selection;
  selection.dispatch = true;
  selection.switches.set(switches, "--use");
  const auto reports = gates::verify_tensor(context, tensor.raw, selection);
  EXPECT_EQ(reports.back().gate, "dispatch");
  return reports.back();
}

TEST(DispatchGate, OnRunsThePreferredConsumer) {
  const GateReport report = dispatched(shipped_catalog(), "");
  EXPECT_EQ(report.verdict, Verdict::kPass) << text(report);
  EXPECT_EQ(report.notes.front(), "on: w_exp/cp_async+w_dsc");
}

TEST(DispatchGate, OffByChoiceSaysSoAndIsBitIdenticalToTheControlArm) {
  const GateReport report = dispatched(shipped_catalog(), "w_exp=off,w_dsc=off,padded=off");
  EXPECT_EQ(report.verdict, Verdict::kPass) << text(report);
  EXPECT_EQ(report.subject, "raw/expand");
  EXPECT_THAT(report.notes.front(), HasSubstr("off by choice: raw/expand ("));
  EXPECT_THAT(report.notes.front(), HasSubstr("plane w_exp is off by choice (--use w_exp=off)"));
}

TEST(DispatchGate, EveryCombinationOfSwitchesGivesTheSameBits) {
  for (const char* switches : {"w_exp=off", "w_dsc=off", "padded=off,w_dsc=off"}) {
    const GateReport report = dispatched(shipped_catalog(), switches);
    EXPECT_EQ(report.verdict, Verdict::kPass) << text(report);
    EXPECT_EQ(report.notes.back(), "bit-identical to raw/expand");
  }
}

TEST(DispatchGate, SmallBatchTakesTheDecodePathWithinItsBound) {
  const GateReport report = dispatched(shipped_catalog(), "", 8);
  EXPECT_EQ(report.verdict, Verdict::kPass) << text(report);
  EXPECT_EQ(report.subject, "padded/decode");
  EXPECT_THAT(report.notes.back(), HasSubstr("within the bound"));
}

TEST(DispatchGate, ManyTokensTakeTheF16PathWithinItsBound) {
  const GateReport report = dispatched(shipped_catalog(), "", 65);
  EXPECT_EQ(report.verdict, Verdict::kPass) << text(report);
  EXPECT_EQ(report.subject, "w_exp/f16");
  EXPECT_THAT(report.notes.back(), HasSubstr("within the bound"));
}

TEST(DispatchGate, JudgesAnyConsumerThatIsVerifiedAlone) {
  const Catalog& catalog = shipped_catalog();
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    const SampleTensor tensor(catalog, consumer.format, Shape(17, 512, 8));
    const auto device = make_host_device();
    gates::Context context{catalog, *device};
    gates::Selection selection{{}, {consumer.name}};
    selection.dispatch = true;
    selection.addresses = gates::Addresses::kNever;
    const GateReport report = gates::verify_tensor(context, tensor.raw, selection).back();
    EXPECT_EQ(report.gate, "dispatch");
    EXPECT_EQ(report.verdict, Verdict::kPass) << consumer.name << ": " << text(report);
  }
}

TEST(Consumers, EndWhereTheirPreconditionsDoNotHold) {
  const Catalog& catalog = shipped_catalog();
  const SampleTensor tensor(catalog, "q6_K", Shape(17, 512, 40));
  const auto device = make_host_device();
  gates::Context context{catalog, *device};
  const FormatOracle& activations = catalog.activations();
  const std::vector<float> x = gates::sample_activations(tensor.raw.shape, context.seed);
  const RawTensor f32{"x", "f32", tensor.raw.shape, std::as_bytes(std::span(x))};
  gates::Dataset data(context, "file", tensor.raw, activations, activations.quantise(f32));
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    if (!consumer.refusal(tensor.raw.shape)) continue;
    ConsumerSpec unguarded = consumer;
    unguarded.preconditions.clear();
    unguarded.meant_for = nullptr;
    data.ensure_planes(unguarded);
    const gates::ConsumerRun ran = gates::run(context, unguarded, data);
    EXPECT_EQ(ran.failure, "") << consumer.name;
    EXPECT_EQ(ran.y.size(), size_t{17} * 40) << consumer.name;
  }
}

Catalog with_consumer_changed(const std::string& name, void (*change)(ConsumerSpec&)) {
  Catalog catalog = shipped_catalog();
  ConsumerSpec consumer = *catalog.consumer(name);
  change(consumer);
  catalog.replace(std::move(consumer));
  return catalog;
}

TEST(DispatchGate, FallbackSaysWhy) {
  const Catalog catalog = with_consumer_changed("w_exp/cp_async+w_dsc", [](ConsumerSpec& consumer) {
    consumer.preconditions.push_back(
        {"od a multiple of 64", [](const Shape& s) { return s.od() % 64 == 0; }});
  });
  const GateReport report = dispatched(catalog, "");
  EXPECT_EQ(report.verdict, Verdict::kPass) << text(report);
  EXPECT_EQ(report.notes.front(),
            "fallback: w_exp/cp_async (w_exp/cp_async+w_dsc: needs od a multiple of 64)");
}

TEST(DispatchGate, LabelThatTheStampBeliesIsRed) {
  const Catalog catalog = with_consumer_changed("w_exp/cp_async+w_dsc", [](ConsumerSpec& consumer) {
    consumer.launches = {{DeviceKind::kHost, [](Device& device, const LaunchRequest& request) {
                            shipped_catalog()
                                .consumer("raw/expand+w_dsc")
                                ->launch_on(DeviceKind::kHost)(device, request);
                          }}};
  });
  const GateReport report = dispatched(catalog, "");
  EXPECT_EQ(report.verdict, Verdict::kFail);
}

TEST(DispatchGate, OutputThatThePlaneChangesIsRed) {
  const Catalog catalog = with_consumer_changed("w_exp/cp_async+w_dsc", [](ConsumerSpec& consumer) {
    consumer.launches = {{DeviceKind::kHost, [](Device& device, const LaunchRequest& request) {
                            shipped_catalog()
                                .consumer("w_exp/cp_async+w_dsc")
                                ->launch_on(DeviceKind::kHost)(device, request);
                            auto& host = dynamic_cast<HostDevice&>(device);
                            const auto y = host.resolve(request.y->address());
                            host.enqueue([y] { y[21] ^= std::byte{1}; });
                          }}};
  });
  const GateReport report = dispatched(catalog, "");
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_EQ(report.difference.count, 1);
  EXPECT_EQ(report.difference.first, "element 5 = token 0, row 5");
  EXPECT_THAT(report.diagnosis, HasSubstr("the plane changes the result"));
}

}  // namespace
}  // namespace planegate
