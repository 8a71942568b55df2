#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include <planegate/devices/host_device.h>

#include "gates/faults.h"
#include "tests/gate_tests.h"
#include "tests/require_device.h"

/// Every planted fault turns its own gate red and no other: all four verdicts are listed.
namespace planegate {
namespace {

using enum Verdict;
using gates::BitFlip;
using Verdicts = std::array<Verdict, 4>;  // mirror, readback, parity, chain

constexpr const char* kGood = "w_exp/cp_async";
const Shape kShape(70, 512, 5);

/// The shipped catalog with one bit flipped in what the producer of `plane` writes.
Catalog with_flipping_producer(const std::string& plane, BitFlip flip) {
  Catalog catalog = shipped_catalog();
  catalog.replace(gates::flipping(*catalog.producer(plane), flip));
  return catalog;
}

/// The shipped catalog with the good consumer changed.
Catalog with_changed_consumer(const std::function<void(ConsumerSpec&)>& change) {
  Catalog catalog = shipped_catalog();
  ConsumerSpec consumer = *catalog.consumer(kGood);
  change(consumer);
  catalog.replace(std::move(consumer));
  return catalog;
}

std::vector<GateReport> verified(const Catalog& catalog, Device& device,
                                 const std::string& consumer, const Shape& shape = kShape) {
  const SampleTensor tensor(catalog, "q6_K", shape);
  gates::Context context{catalog, device, 1};
  return gates::verify_tensor(context, tensor.raw, {{}, {consumer}});
}

Verdicts verdicts(const std::vector<GateReport>& reports, const std::string& plane,
                  const std::string& consumer) {
  const auto of = [&](const char* gate, const std::string& subject) {
    const GateReport* report = find_report(reports, gate, subject);
    EXPECT_NE(report, nullptr) << gate << " of " << subject;
    return report == nullptr ? kSkipped : report->verdict;
  };
  return {of("mirror", plane), of("readback", plane), of("parity", consumer),
          of("chain", consumer)};
}

/// All reports but those of `plane`'s and `consumer`'s gates are green.
void expect_others_green(const std::vector<GateReport>& reports, const std::string& plane,
                         const std::string& consumer) {
  for (const GateReport& report : reports) {
    if (report.subject != plane && report.subject != consumer) {
      EXPECT_EQ(report.verdict, kPass) << text(report);
    }
  }
}

TEST(KillMatrix, CleanCodeIsGreenInAllFourGates) {
  const auto device = make_host_device();
  for (const ConsumerSpec& consumer : shipped_catalog().consumers()) {
    const auto reports = verified(shipped_catalog(), *device, consumer.name);
    const std::string plane = "q6_K/" + consumer.reads.front().plane->name;
    EXPECT_EQ(verdicts(reports, plane, consumer.name), (Verdicts{kPass, kPass, kPass, kPass}));
  }
}

/// The planted faults of each stage on the GPU.
TEST(KillMatrixCuda, EachFaultTurnsItsOwnGateRed) {
  const auto device = test::require_cuda_device();
  if (device == nullptr) return;
  constexpr BitFlip kFlip{17923, 6};
  std::string why_not;
  const auto flipping =
      gates::make_flipping_device(DeviceKind::kCuda, "sample.weight/w_exp", kFlip, why_not);
  const Catalog producer = with_flipping_producer("w_exp", kFlip);
  const auto of = [](const std::vector<GateReport>& reports, const std::string& consumer) {
    return verdicts(reports, "q6_K/w_exp", consumer);
  };
  EXPECT_EQ(of(verified(shipped_catalog(), *device, kGood), kGood),
            (Verdicts{kPass, kPass, kPass, kPass}));
  EXPECT_EQ(of(verified(producer, *device, kGood), kGood),
            (Verdicts{kFail, kPass, kPass, kSkipped}));
  EXPECT_EQ(of(verified(shipped_catalog(), *flipping, kGood), kGood),
            (Verdicts{kPass, kFail, kPass, kSkipped}));
  const Catalog known_bad = catalog_with_known_bad();
  for (const char* stage : {"w_exp/bytewise", "w_exp/copy16", "w_exp/cp_async"}) {
    const std::string bad = std::string(stage) + "+padded_address";
    EXPECT_EQ(of(verified(known_bad, *device, bad), bad),
              (Verdicts{kPass, kPass, kFail, kSkipped}));
  }
}

struct PlaneFault {
  const char* plane;   ///< `q6_K/w_exp`
  const char* buffer;  ///< its buffer's name
  BitFlip flip;
};

class PlaneFaults : public testing::TestWithParam<PlaneFault> {};

TEST_P(PlaneFaults, BitFlippedByTheProducerIsRedInMirrorOnly) {
  const PlaneFault& fault = GetParam();
  const auto device = make_host_device();
  const std::string plane = fault.plane;
  const Catalog catalog = with_flipping_producer(plane.substr(plane.find('/') + 1), fault.flip);
  const auto reports = verified(catalog, *device, kGood);
  EXPECT_EQ(verdicts(reports, fault.plane, kGood), (Verdicts{kFail, kPass, kPass, kSkipped}));
  EXPECT_EQ(find_report(reports, "mirror", fault.plane)->difference.count, 1);
  expect_others_green(reports, fault.plane, kGood);
}

TEST_P(PlaneFaults, BitFlippedInTheDeviceBufferIsRedInReadbackOnly) {
  const PlaneFault& fault = GetParam();
  std::string why_not;
  const auto device =
      gates::make_flipping_device(DeviceKind::kHost, fault.buffer, fault.flip, why_not);
  const auto reports = verified(shipped_catalog(), *device, kGood);
  EXPECT_EQ(verdicts(reports, fault.plane, kGood), (Verdicts{kPass, kFail, kPass, kSkipped}));
  EXPECT_EQ(find_report(reports, "readback", fault.plane)->difference.count, 1);
  expect_others_green(reports, fault.plane, kGood);
}

INSTANTIATE_TEST_SUITE_P(
    AnyByte, PlaneFaults,
    testing::Values(PlaneFault{"q6_K/w_exp", "sample.weight/w_exp", {0, 0}},
                    PlaneFault{"q6_K/w_exp", "sample.weight/w_exp", {17923, 6}},
                    PlaneFault{"q6_K/w_exp", "sample.weight/w_exp", {70 * 512 - 1, 7}},
                    PlaneFault{"q6_K/raw", "sample.weight/raw", {70 * 2 * 210 - 1, 3}},
                    PlaneFault{"q8_0/qa8", "x of sample.weight/qa8", {2048 * 16 - 1, 0}},
                    PlaneFault{"q8_0/sda", "x of sample.weight/sda", {2, 5}}));

/// Uploads of w_exp: readback, the independence part's twin, chain.
TEST(KillMatrix, BitFlippedOnTheWayOfTheProducersOwnBytesIsRedInChainOnly) {
  std::string why_not;
  const auto device =
      gates::make_flipping_device(DeviceKind::kHost, "sample.weight/w_exp", {17923, 6}, why_not, 3);
  const auto reports = verified(shipped_catalog(), *device, kGood);
  EXPECT_EQ(verdicts(reports, "q6_K/w_exp", kGood), (Verdicts{kPass, kPass, kPass, kFail}));
  const std::string told = text(*find_report(reports, "chain", kGood));
  EXPECT_NE(told.find("the producers' own bytes end to end give another output"), std::string::npos)
      << told;
}

TEST(KillMatrix, BitFlippedInTheTwinOfIndependenceIsRedInParity) {
  std::string why_not;
  const auto device =
      gates::make_flipping_device(DeviceKind::kHost, "sample.weight/w_exp", {17923, 6}, why_not, 2);
  const auto reports = verified(shipped_catalog(), *device, kGood);
  EXPECT_EQ(verdicts(reports, "q6_K/w_exp", kGood), (Verdicts{kPass, kPass, kFail, kSkipped}));
}

class PaddedAddress : public testing::TestWithParam<const char*> {};

TEST_P(PaddedAddress, IsRedInParityOnly) {
  const Catalog catalog = catalog_with_known_bad();
  const auto device = make_host_device();
  const auto reports = verified(catalog, *device, GetParam());
  EXPECT_EQ(verdicts(reports, "q6_K/w_exp", GetParam()), (Verdicts{kPass, kPass, kFail, kSkipped}));
  expect_others_green(reports, "q6_K/w_exp", GetParam());
}

TEST_P(PaddedAddress, HidesWhereRowAndSuperBlockStrideAreNotUsed) {
  const Catalog catalog = catalog_with_known_bad();
  const auto device = make_host_device();
  const auto reports = verified(catalog, *device, GetParam(), Shape(1, 256, 3));
  EXPECT_EQ(find_report(reports, "parity", GetParam())->verdict, kPass)
      << "od=1 and nsb=1 hide both strides: a sweep must not stop there";
}

INSTANTIATE_TEST_SUITE_P(Variants, PaddedAddress,
                         testing::Values("w_exp/bytewise+padded_address",
                                         "w_exp/copy16+padded_address",
                                         "w_exp/cp_async+padded_address"));

/// A consumer whose launch was replaced.
std::vector<GateReport> with_launch(LaunchFn launch) {
  const Catalog catalog = with_changed_consumer([&](ConsumerSpec& consumer) {
    consumer.launches = {{DeviceKind::kHost, launch}};
  });
  const auto device = make_host_device();
  return verified(catalog, *device, kGood);
}

void good_launch(Device& device, const LaunchRequest& request) {
  shipped_catalog().consumer(kGood)->launch_on(DeviceKind::kHost)(device, request);
}

void expect_parity_says(const std::vector<GateReport>& reports, const std::string& words) {
  EXPECT_EQ(verdicts(reports, "q6_K/w_exp", kGood), (Verdicts{kPass, kPass, kFail, kSkipped}));
  const std::string told = text(*find_report(reports, "parity", kGood));
  EXPECT_NE(told.find(words), std::string::npos) << told;
}

TEST(Liveness, LaunchThatNeverRunsIsRed) {
  expect_parity_says(with_launch([](Device&, const LaunchRequest&) {}), "left no stamp");
}

TEST(Liveness, FaultIsTheDiagnosisWhateverAddressesSay) {
  const auto reports = with_launch([](Device&, const LaunchRequest&) {});
  EXPECT_EQ(find_report(reports, "parity", kGood)->diagnosis.rfind("liveness: ", 0), 0u);
}

TEST(Liveness, OtherConsumerInItsPlaceIsRed) {
  expect_parity_says(
      with_launch([](Device& device, const LaunchRequest& request) {
        shipped_catalog().consumer("w_exp/copy16")->launch_on(DeviceKind::kHost)(device, request);
      }),
      "liveness: block 0 stamped instance");
}

TEST(Liveness, StaleGenerationIsRed) {
  expect_parity_says(with_launch([](Device& device, const LaunchRequest& request) {
                       LaunchRequest stale = request;
                       for (BoundPlane& plane : stale.planes) plane.generation += 7;
                       good_launch(device, stale);
                     }),
                     "generation 8");
}

void then_write(Device& device, const LaunchRequest& request, int64_t element, float value) {
  good_launch(device, request);
  auto& host = dynamic_cast<HostDevice&>(device);
  const auto y = host.resolve(request.y->address());
  host.enqueue([y, element, value] { std::memcpy(y.data() + element * 4, &value, sizeof value); });
}

TEST(Parity, OneElementLeftUnwrittenIsRed) {
  expect_parity_says(with_launch([](Device& device, const LaunchRequest& request) {
                       float unwritten = 0;
                       std::memset(&unwritten, 0xFF, sizeof unwritten);
                       then_write(device, request, 17, unwritten);
                     }),
                     "[unwritten]");
}

TEST(Parity, OneElementThatIsNaNIsRed) {
  expect_parity_says(with_launch([](Device& device, const LaunchRequest& request) {
                       then_write(device, request, 349, std::nanf(""));
                     }),
                     "element 349 = token 4, row 69");
}

TEST(Parity, WriteBehindTheOutputIsRed) {
  expect_parity_says(with_launch([](Device& device, const LaunchRequest& request) {
                       then_write(device, request, request.shape.nt() * request.shape.od(), 1.0f);
                     }),
                     "guard zone of y overwritten at byte 1400");
}

TEST(Parity, OutputThatDependsOnTheScheduleIsRedInIndependence) {
  const auto reports = with_launch([](Device& device, const LaunchRequest& request) {
    const auto& host = dynamic_cast<HostDevice&>(device);
    if (host.schedule().order == Schedule::Order::kDescending) {
      then_write(device, request, 3, 0.0f);
    } else {
      good_launch(device, request);
    }
  });
  expect_parity_says(reports, "descending lanes and warps");
}

TEST(Parity, RefusedPreconditionIsSkippedWithTheReason) {
  const Catalog catalog = with_changed_consumer([](ConsumerSpec& consumer) {
    consumer.preconditions.push_back(
        {"od a multiple of 64", [](const Shape& shape) { return shape.od() % 64 == 0; }});
  });
  const auto device = make_host_device();
  const auto reports = verified(catalog, *device, kGood);
  const GateReport& parity = *find_report(reports, "parity", kGood);
  EXPECT_EQ(parity.verdict, kSkipped);
  EXPECT_EQ(parity.reason, "needs od a multiple of 64");
}

TEST(Scales, NonFiniteScaleIsAVerdictOfItsOwn) {
  const Catalog& catalog = shipped_catalog();
  SampleTensor tensor(catalog, "q6_K", kShape);
  const size_t block = 2 * 35 + 1;
  tensor.bytes[210 * block + 208] = std::byte{0x00};
  tensor.bytes[210 * block + 209] = std::byte{0x7C};
  const auto device = make_host_device();
  gates::Context context{catalog, *device, 1};
  const auto reports = gates::verify_tensor(context, tensor.raw, {});
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].verdict, kFail);
  EXPECT_EQ(reports[0].difference.first, "row 35, super-block 1");
}

}  // namespace
}  // namespace planegate
