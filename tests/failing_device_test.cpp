#include "tests/failing_device.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gate_tests.h"

/// What the gates say of a device that goes away, or that has too little memory.
namespace planegate {
namespace {

using test::FailingDevice;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFormat = "q6_K";
constexpr const char* kLost = "device lost: cudaErrorLaunchFailure, as a test has it";

/// Two consumers of different planes, and Dispatch.
std::vector<GateReport> verified(Device& device, const std::vector<std::string>& consumers = {
                                                     "raw/expand", "w_exp/copy16"}) {
  gates::Context context{shipped_catalog(), device, 1};
  const SampleTensor tensor(shipped_catalog(), kFormat, Shape(3, 512, 2));
  gates::Selection selection{{}, consumers};
  selection.dispatch = true;
  selection.addresses = gates::Addresses::kNever;
  return gates::verify_tensor(context, tensor.raw, selection);
}

std::string key(const GateReport& report) {
  return report.gate + " " + report.subject;
}

std::vector<GateReport> of_verdict(const std::vector<GateReport>& reports, Verdict verdict) {
  std::vector<GateReport> found;
  std::copy_if(reports.begin(), reports.end(), std::back_inserter(found),
               [&](const GateReport& report) { return report.verdict == verdict; });
  return found;
}

/// A device that works, and what is verified on it.
struct Whole {
  FailingDevice device;
  std::vector<GateReport> reports = verified(device);
};

const Whole& whole() {
  static const Whole one;
  return one;
}

TEST(FailingDevice, IsGreenUntilItFails) {
  EXPECT_EQ(overall(whole().reports), Verdict::kPass);
  EXPECT_GT(whole().device.calls(), 100);
}

TEST(LostDevice, FailsTheGateAtWorkAndKeepsWhatWasDone) {
  FailingDevice device;
  device.calls_until_lost = whole().device.calls() - 1;
  const auto reports = verified(device);
  ASSERT_EQ(reports.size(), whole().reports.size());
  EXPECT_EQ(key(reports.back()), "dispatch ");
  EXPECT_TRUE(reports.back().device_lost);
  EXPECT_EQ(reports.back().diagnosis, kLost);
  EXPECT_THAT(text(reports.back()), HasSubstr("nothing after this gate was verified"));
  EXPECT_EQ(of_verdict(reports, Verdict::kPass).size(), reports.size() - 1);
}

TEST(LostDevice, IsOneRedGateWhicheverCallItFails) {
  for (int64_t calls = 0; calls < whole().device.calls(); ++calls) {
    FailingDevice device;
    device.calls_until_lost = calls;
    const auto reports = verified(device);
    const auto red = of_verdict(reports, Verdict::kFail);
    ASSERT_EQ(red.size(), 1u) << calls;
    EXPECT_TRUE(red.front().device_lost) << calls;
    EXPECT_EQ(red.front().diagnosis, kLost) << key(red.front());
    for (const GateReport& skipped : of_verdict(reports, Verdict::kSkipped)) {
      EXPECT_EQ(skipped.gate, "parity") << calls;
      EXPECT_EQ(skipped.reason, "the device was lost before it was done") << calls;
      EXPECT_FALSE(skipped.parts.empty()) << calls;
    }
  }
}

TEST(FullDevice, SkipsTheGatesOfThePlaneAndFallsBack) {
  FailingDevice device;
  device.no_memory_for = "/w_exp";
  const auto reports = verified(device);
  const std::string why = "no memory for sample.weight/w_exp";
  EXPECT_EQ(find_report(reports, "mirror", "q6_K/w_exp")->verdict, Verdict::kPass);
  EXPECT_EQ(find_report(reports, "readback", "q6_K/w_exp")->verdict, Verdict::kSkipped);
  EXPECT_EQ(find_report(reports, "readback", "q6_K/w_exp")->reason, why);
  const GateReport& parity = *find_report(reports, "parity", "w_exp/copy16");
  EXPECT_EQ(parity.verdict, Verdict::kSkipped);
  EXPECT_THAT(parity.reason, HasSubstr("no memory for lattice of codes, seed 1/w_exp"));
  EXPECT_EQ(find_report(reports, "chain", "w_exp/copy16")->verdict, Verdict::kSkipped);
  EXPECT_EQ(find_report(reports, "chain", "raw/expand")->verdict, Verdict::kPass);
  EXPECT_EQ(reports.back().gate, "dispatch");
  EXPECT_EQ(reports.back().verdict, Verdict::kPass);
  EXPECT_THAT(text(reports.back()),
              HasSubstr("w_exp/copy16: plane w_exp is not registered: " + why));
}

TEST(FullDevice, IsNeverARedGateWhicheverBufferFindsNoMemory) {
  for (int64_t at = 0; at < whole().device.allocations(); ++at) {
    FailingDevice device;
    device.full_at_allocation = at;
    const auto reports = verified(device);
    EXPECT_THAT(of_verdict(reports, Verdict::kFail), IsEmpty()) << at;
    EXPECT_EQ(overall(reports), Verdict::kSkipped) << at;
    EXPECT_EQ(reports.size(), whole().reports.size()) << at;
  }
}

}  // namespace
}  // namespace planegate
