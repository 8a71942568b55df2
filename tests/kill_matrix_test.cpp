#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include <planegate/devices/host_device.h>

#include "tests/gate_tests.h"
#include "tests/require_device.h"

/// Every planted fault turns its own gate red and no other: all four verdicts are listed.
namespace planegate {
namespace {

using enum Verdict;
using Verdicts = std::array<Verdict, 4>;  // mirror, readback, parity, chain

constexpr const char* kGood = "w_exp/cp_async";
const Shape kShape(70, 512, 5);

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

/// The known-bad address on the GPU. Planted producers, uploads and registrations: tests/mutation.
TEST(KillMatrixCuda, PaddedAddressIsRedInParityOnly) {
  const auto device = test::require_cuda_device();
  if (device == nullptr) return;
  const Catalog known_bad = catalog_with_known_bad();
  for (const char* stage : {"w_exp/bytewise", "w_exp/copy16", "w_exp/cp_async"}) {
    const std::string bad = std::string(stage) + "+padded_address";
    EXPECT_EQ(verdicts(verified(known_bad, *device, bad), "q6_K/w_exp", bad),
              (Verdicts{kPass, kPass, kFail, kSkipped}));
  }
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
