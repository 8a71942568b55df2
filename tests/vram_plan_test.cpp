#include "gates/perf/vram_plan.h"

#include <gmock/gmock.h>

#include <planegate/core/errors.h>
#include <planegate/devices/host_device.h>
#include <planegate/formats/q6_k/contracts.h>

#include "catalog/catalog.h"

/// Which planes fit.
namespace planegate::perf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Device& host() {
  static const HostDevice device;
  return device;
}
/// Nothing was built for it.
class Elsewhere : public HostDevice {
 public:
  DeviceKind kind() const override { return DeviceKind::kCuda; }
};

void launch_nothing(Device&, const LaunchRequest&) {}

ConsumerSpec reader(const std::string& name, int rank, std::vector<const Contract*> planes) {
  ConsumerSpec consumer;
  consumer.name = name;
  consumer.format = "q6_K";
  consumer.rank = rank;
  for (const Contract* plane : planes) consumer.reads.push_back({plane, {}});
  consumer.launches = {{DeviceKind::kHost, launch_nothing}};
  return consumer;
}

const Contract& raw() {
  return describe<q6_k::Raw>();
}
const Contract& padded() {
  return describe<q6_k::Padded>();
}
const Contract& w_exp() {
  return describe<q6_k::WExp>();
}
const Contract& w_dsc() {
  return describe<q6_k::WDsc>();
}

/// By super-block: raw 210 bytes, padded 224, w_exp + w_dsc 320, w_exp + raw 466.
const Catalog& catalog() {
  static const Catalog shared = [] {
    Catalog made;
    made.add(reader("raw", 90, {&raw()}));
    made.add(reader("padded", 60, {&padded()}));
    made.add(reader("both", 31, {&w_exp(), &raw()}));
    made.add(reader("w_exp", 30, {&w_exp(), &w_dsc()}));
    return made;
  }();
  return shared;
}

/// 128 super-blocks a row: every plane is a multiple of 256 bytes.
constexpr int64_t kSuperBlocks = 128;
CensusTensor tensor(const std::string& name, int64_t od = 2) {
  return {name, "q6_K", Shape(od, 256 * kSuperBlocks), od * kSuperBlocks * 210};
}

std::vector<std::string> consumers(const VramPlan& plan) {
  std::vector<std::string> names;
  for (const PlaneChoice& choice : plan.choices) {
    names.push_back(choice.consumer == nullptr ? "-" : choice.consumer->name);
  }
  return names;
}

std::vector<std::string> planned_within(int64_t bytes, const std::vector<CensusTensor>& tensors) {
  return consumers(planned(catalog(), host(), tensors, bytes));
}

TEST(Choices, LeaveOutWhatIsDearerAndNoBetter) {
  std::vector<std::string> names;
  int64_t before = 0;
  for (const PlaneChoice& choice : choices_of(catalog(), host(), tensor("t"))) {
    names.push_back(choice.consumer->name);
    EXPECT_GT(choice.bytes, before);
    before = choice.bytes;
  }
  EXPECT_THAT(names, ElementsAre("raw", "padded", "w_exp"));
  EXPECT_THAT(choices_of(catalog(), Elsewhere(), tensor("t")), IsEmpty())
      << "nothing here runs on cuda";
}

TEST(VramPlan, ServesEveryTensorBeforeItServesOneBetter) {
  constexpr int64_t kRaw = 2 * kSuperBlocks * 210, kPadded = 2 * kSuperBlocks * 224;
  const std::vector<CensusTensor> two = {tensor("a"), tensor("b")};
  EXPECT_THAT(planned_within(kRaw - 1, two), ElementsAre("-", "-"));
  EXPECT_THAT(planned_within(kRaw, two), ElementsAre("raw", "-")) << "ties: the first of the file";
  EXPECT_THAT(planned_within(2 * kRaw, two), ElementsAre("raw", "raw"));
  EXPECT_THAT(planned_within(kRaw + kPadded, two), ElementsAre("padded", "raw"));
  EXPECT_THAT(planned_within(2 * kPadded, two), ElementsAre("padded", "padded"));
  EXPECT_THAT(planned_within(int64_t{1} << 40, two), ElementsAre("w_exp", "w_exp"));
}

TEST(VramPlan, PassesOverWhatDoesNotFit) {
  const std::vector<CensusTensor> tensors = {tensor("large", 64), tensor("small", 2)};
  EXPECT_THAT(planned_within(2 * kSuperBlocks * 320, tensors), ElementsAre("-", "w_exp"));
}

TEST(VramPlan, AlwaysFitsAndNamesWhatItUses) {
  const std::vector<CensusTensor> tensors = {tensor("a", 3), tensor("b", 1), tensor("c", 7)};
  size_t served_before = 0;
  for (int64_t bytes = 0; bytes < 12 * kSuperBlocks * 320; bytes += 997) {
    const VramPlan plan = planned(catalog(), host(), tensors, bytes);
    int64_t sum = 0;
    size_t served = 0;
    for (const PlaneChoice& choice : plan.choices) {
      sum += choice.bytes;
      served += choice.consumer == nullptr ? 0 : 1;
    }
    ASSERT_EQ(sum, plan.used_bytes);
    ASSERT_LE(plan.used_bytes, bytes);
    served_before = std::max(served_before, served);
  }
  EXPECT_EQ(served_before, 3u);
}

TEST(VramPlan, CountsPlanesAsTheDeviceAlignsThem) {
  const CensusTensor odd{"t", "q6_K", Shape(1, 256), 210};
  EXPECT_EQ(choices_of(catalog(), host(), odd)[0].bytes, 256);
}

TEST(VramPlan, OfTheShippedCatalogPrefersWhatDispatchPrefers) {
  const CensusTensor many{"t", "q6_K", Shape(70, 512, 70), 70 * 420};
  const CensusTensor one{"t", "q6_K", Shape(70, 512, 1), 70 * 420};
  const int64_t all = int64_t{1} << 30;
  EXPECT_THAT(consumers(planned(shipped_catalog(), host(), {many}, all)),
              ElementsAre("w_exp/f16"));
  EXPECT_THAT(consumers(planned(shipped_catalog(), host(), {one}, all)),
              ElementsAre("padded/decode"));
}

TEST(VramPlan, RefusesLessThanNothing) {
  EXPECT_THROW(planned(catalog(), host(), {}, -1), ContractError);
}

}  // namespace
}  // namespace planegate::perf
