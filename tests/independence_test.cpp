#include <csignal>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <planegate/core/errors.h>
#include <planegate/devices/host_device.h>

#include "gates/parity.h"
#include "gates/plane_gates.h"
#include "tests/gate_tests.h"

/// What the oracle made is out of reach of producer, device and consumer: a write there is a
/// segmentation fault, whoever writes.
namespace planegate {
namespace {

const Shape kShape(3, 512, 2);
constexpr const char* kConsumer = "w_exp/cp_async";

/// What the code under test writes to, once: later the memory may be gone, and a write there dies
/// for another reason. Each death is a process of its own.
const void* target = nullptr;
bool written = false;

void write_to_target() {
  if (std::exchange(written, true)) return;
  *const_cast<volatile char*>(static_cast<const char*>(target)) = 1;
}

bool segmentation_fault(int status) {
#ifdef __SANITIZE_ADDRESS__
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
#else
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
#endif
}

/// A host device, a context and a dataset of lattice values.
struct Bench {
  std::unique_ptr<Device> device = make_host_device();
  gates::Context context{shipped_catalog(), *device, 1};
  gates::Dataset dataset =
      gates::make_dataset(context, kShape, gates::lattices(kShape).front(),
                          *shipped_catalog().format("q6_K"), *shipped_catalog().format("q8_0"));
  const ConsumerSpec& consumer = *shipped_catalog().consumer(kConsumer);
};

/// The good launch with a write to `target` behind it, by the stream of the device.
void writing_launch(Device& device, const LaunchRequest& request) {
  shipped_catalog().consumer(kConsumer)->launch_on(DeviceKind::kHost)(device, request);
  dynamic_cast<HostDevice&>(device).enqueue(write_to_target);
}

ConsumerSpec writing_consumer() {
  ConsumerSpec consumer = *shipped_catalog().consumer(kConsumer);
  consumer.launches = {{DeviceKind::kHost, writing_launch}};
  return consumer;
}

void run_writing_consumer(Bench& bench) {
  bench.dataset.ensure_planes(bench.consumer);
  (void)gates::run(bench.context, writing_consumer(), bench.dataset);
}

class IndependenceDeathTest : public testing::Test {
 protected:
  IndependenceDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(IndependenceDeathTest, AConsumerThatWritesToYStarBoundOrMagnitudeDies) {
  Bench bench;
  const gates::Expected reference = bench.dataset.reference(bench.consumer.arithmetic);
  for (const auto* values : {&reference.y, &reference.bound, &reference.magnitude}) {
    EXPECT_TRUE(values->sealed());
    target = values->end() - 1;
    EXPECT_EXIT(run_writing_consumer(bench), segmentation_fault, "");
  }
}

TEST_F(IndependenceDeathTest, AConsumerThatWritesToTheRawBytesOfADatasetDies) {
  Bench bench;
  for (const RawTensor* raw : {&bench.dataset.weights(), &bench.dataset.activations()}) {
    target = &raw->bytes.back();
    EXPECT_EXIT(run_writing_consumer(bench), segmentation_fault, "");
  }
}

TEST_F(IndependenceDeathTest, AConsumerThatWritesToItsOwnMemoryLives) {
  Bench bench;
  static char own = 0;
  target = &own;
  run_writing_consumer(bench);
  EXPECT_EQ(own, 1);
}

/// The producer of w_exp with a write to `target` before its own work.
ProducerSpec writing_producer() {
  ProducerSpec producer = *shipped_catalog().producer("w_exp");
  producer.write = [write = producer.write](const RawTensor& raw, std::span<std::byte> plane) {
    write_to_target();
    write(raw, plane);
  };
  return producer;
}

TEST_F(IndependenceDeathTest, AProducerThatWritesToItsMirrorDies) {
  Bench bench;
  const ProducerSpec producer = writing_producer();
  SealedBytes mirror = bench.dataset.mirror(*producer.plane);
  EXPECT_TRUE(mirror.sealed());
  target = &mirror.bytes().back();
  EXPECT_EXIT((void)gates::mirror_gate(bench.context, producer, "t", bench.dataset.weights(),
                                       std::move(mirror)),
              segmentation_fault, "");
}

TEST(Independence, MirrorGateRefusesAMirrorThatIsNotSealed) {
  Bench bench;
  const ProducerSpec& producer = *shipped_catalog().producer("w_exp");
  SealedBytes open(producer.plane->size_bytes(kShape));
  EXPECT_THROW((void)gates::mirror_gate(bench.context, producer, "t", bench.dataset.weights(),
                                        std::move(open)),
               ContractError);
}

/// The shipped catalog whose mirror of w_exp takes `chosen(raw, plane)` as target.
template <class Chosen>
Catalog catalog_that_aims(const Chosen& chosen) {
  Catalog catalog;
  for (const FormatOracle& format : shipped_catalog().formats()) catalog.add(format);
  for (const ProducerSpec& producer : shipped_catalog().producers()) {
    MirrorSpec mirror = shipped_catalog().mirror(*producer.plane);
    if (producer.plane->name == "w_exp") {
      mirror.write = [write = mirror.write, chosen](const RawTensor& raw,
                                                    std::span<std::byte> plane) {
        target = chosen(raw, plane);
        write(raw, plane);
      };
    }
    catalog.add(mirror);
    catalog.add(producer);
  }
  catalog.add(*shipped_catalog().consumer(kConsumer));
  return catalog;
}

void verify(const Catalog& catalog, const SampleTensor& tensor) {
  const auto device = make_host_device();
  gates::Context context{catalog, *device, 1};
  (void)gates::verify_tensor(context, tensor.raw, {{}, {kConsumer}});
}

TEST_F(IndependenceDeathTest, VerifySealsTheMirrorBeforeTheProducerRuns) {
  Catalog catalog =
      catalog_that_aims([](const RawTensor&, std::span<std::byte> plane) { return plane.data(); });
  const SampleTensor tensor(catalog, "q6_K", kShape);
  verify(catalog, tensor);
  catalog.replace(writing_producer());
  EXPECT_EXIT(verify(catalog, tensor), segmentation_fault, "");
}

// The last mirror of w_exp before a launch is that of a lattice: its raw bytes are the target.
TEST_F(IndependenceDeathTest, VerifySealsTheLatticeBeforeTheConsumerRuns) {
  Catalog catalog = catalog_that_aims(
      [](const RawTensor& raw, std::span<std::byte>) { return raw.bytes.data(); });
  const SampleTensor tensor(catalog, "q6_K", kShape);
  verify(catalog, tensor);
  catalog.replace(writing_consumer());
  EXPECT_EXIT(verify(catalog, tensor), segmentation_fault, "");
}

}  // namespace
}  // namespace planegate
