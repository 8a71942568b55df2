#include "gates/perf/timed_consumer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/devices/host_device.h>

#include "catalog/catalog.h"

namespace planegate::perf {
namespace {

using testing::HasSubstr;

/// One q6_K tensor with its activations.
struct Bench {
  explicit Bench(const Shape& shape) : catalog(catalog_with_known_bad()), shape_(shape) {
    const FormatOracle& format = *catalog.format("q6_K");
    weights.resize(static_cast<size_t>(format.size_bytes(shape)));
    format.sample(shape, 1, weights);
  }
  gates::Dataset dataset() {
    const std::vector<float> x = gates::sample_activations(shape_, 1);
    const FormatOracle& activations = catalog.activations();
    return {context,
            "sample",
            RawTensor{"w", "q6_K", shape_, weights},
            activations,
            activations.quantise({"x", "f32", shape_, std::as_bytes(std::span(x))})};
  }

  Catalog catalog;
  HostDevice device;
  gates::Context context{catalog, device, 1};
  std::vector<std::byte> weights;

 private:
  Shape shape_;
};

TEST(TimedConsumer, TimesTheWallAndIsRightAfterwards) {
  Bench bench(Shape(9, 512, 3));
  gates::Dataset one = bench.dataset(), two = bench.dataset();
  TimedConsumer timed(bench.context, *bench.catalog.consumer("w_exp/split_k"), {&one, &two}, 3);
  for (int i = 0; i < 3; ++i) {
    const Sample sample = timed.run();
    EXPECT_GT(sample.wall, 0);
    EXPECT_FALSE(sample.kernel) << "the host has no clock of a device";
  }
  EXPECT_EQ(timed.verify_again(), "");
  EXPECT_GT(timed.device_bytes(), 2 * 9 * 512);
}

TEST(TimedConsumer, SaysWhatIsWrongAfterwards) {
  Bench bench(Shape(9, 512, 3));
  gates::Dataset data = bench.dataset();
  TimedConsumer timed(bench.context, *bench.catalog.consumer("w_exp/cp_async+padded_address"),
                      {&data}, 1);
  timed.run();
  EXPECT_THAT(timed.verify_again(), HasSubstr("bound FAIL w_exp/cp_async+padded_address"));
}

TEST(TimedConsumer, SeesThatTheTimedBuffersDiffer) {
  Bench bench(Shape(9, 512, 3));
  ConsumerSpec broken = *bench.catalog.consumer("w_exp/cp_async");
  const LaunchFn good = broken.launch_on(DeviceKind::kHost);
  // Right in a run of the gates, wrong where it is timed.
  broken.launches = {{DeviceKind::kHost, [good](Device& device, const LaunchRequest& request) {
                        good(device, request);
                        if (request.y->name() == "timed y") device.fill(*request.y, std::byte{1});
                      }}};
  bench.catalog.replace(std::move(broken));
  gates::Dataset data = bench.dataset();
  TimedConsumer timed(bench.context, *bench.catalog.consumer("w_exp/cp_async"), {&data}, 1);
  EXPECT_THAT(timed.verify_again(), HasSubstr("27 elements of od=9 id=512 nsb=2 nt=3 differ"));
}

TEST(TimedConsumer, RefusesAShapeThatItsConsumerDoesNotTake) {
  Bench bench(Shape(9, 512, 70));
  gates::Dataset data = bench.dataset();
  EXPECT_THROW(TimedConsumer(bench.context, *bench.catalog.consumer("padded/decode"), {&data}, 1),
               ContractError);
}

}  // namespace
}  // namespace planegate::perf
