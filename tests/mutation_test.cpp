#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "mutants/mutants.h"
#include "tests/require_device.h"

/// The kill matrix: one test per group of arms x device, registered from the corpus.
namespace planegate {
namespace {

using gates::Arm;
using gates::ArmResult;

const Catalog& clean_catalog() {
  static const Catalog catalog = catalog_with_known_bad();
  return catalog;
}

const std::vector<Arm>& arms() {
  static const std::vector<Arm> all = mutants::all_arms();
  return all;
}

class Group : public testing::Test {
 public:
  Group(std::vector<const Arm*> arms, DeviceKind kind) : arms_(std::move(arms)), kind_(kind) {}

  void TestBody() override {
    if (kind_ == DeviceKind::kCuda && test::require_cuda_device() == nullptr) return;
    gates::Score score;
    for (const Arm* arm : arms_) {
      const ArmResult result = gates::run_arm(clean_catalog(), *arm, kind_);
      score.add(result);
      EXPECT_TRUE(result.as_expected())
          << arm->name << ": " << gates::text(result.outcome) << "\n  verdicts "
          << result.have.text() << ", expected " << arm->expected.text()
          << "\n  told: " << result.told
          << "\n  must name: " << testing::PrintToString(arm->must_name)
          << "\n  and one of each: " << testing::PrintToString(arm->one_of);
    }
    EXPECT_GT(score.killed, 0) << "a group that kills nothing verifies nothing";
    fmt::print("{}\n", score.text());
  }

 private:
  std::vector<const Arm*> arms_;
  DeviceKind kind_;
};

/// Whether its consumer is built for devices of `kind`: what is not is no skipped test.
bool runs_on(const Arm& arm, DeviceKind kind) {
  Catalog catalog = clean_catalog();
  if (arm.plant) arm.plant(catalog);
  const ConsumerSpec* consumer = catalog.consumer(arm.consumer);
  return consumer == nullptr || consumer->launch_on(kind) != nullptr;
}

std::vector<Arm> hand_written() {
  std::vector<Arm> all;
  for (auto* some : {mutants::producer_arms, mutants::upload_arms, mutants::consumer_arms,
                     mutants::dispatch_arms}) {
    for (Arm& arm : some()) all.push_back(std::move(arm));
  }
  return all;
}

TEST(Corpus, HoldsAtLeast80HandWrittenArms) {
  EXPECT_GE(hand_written().size(), 80u);
}

TEST(Corpus, HasAnArmForEveryClassOfPublicReports) {
  std::set<std::string> covered;
  for (const Arm& arm : hand_written()) covered.insert(arm.bug_class);
  for (const mutants::AbsentClass& absent : mutants::absent_classes()) {
    EXPECT_EQ(covered.count(absent.bug_class), 0u) << absent.bug_class << " is not absent";
    covered.insert(absent.bug_class);
  }
  for (const char* name : {"wrong-dispatch",
                           "scale-plane-mismatch",
                           "padded-vs-dense",
                           "TP-shard-offset",
                           "sub-block-order",
                           "uninitialised-padding",
                           "wrong-row-stride",
                           "undersized-alloc",
                           "tail-K",
                           "tail-rows-unmasked",
                           "sign/centering",
                           "stale-plane",
                           "harness-defect",
                           "race/missing-sync",
                           "nibble-order",
                           "alignment",
                           "int32-overflow",
                           "wrong-block-stride",
                           "async-copy-not-waited",
                           "wrong-pad-value",
                           "small-batch-path",
                           "fixup-index",
                           "partial-update",
                           "tile/grid mismatch",
                           "non-determinism",
                           "endianness"}) {
    EXPECT_EQ(covered.count(name), 1u) << name << " has neither an arm nor a reason";
  }
}

TEST(Corpus, NamesAreUnique) {
  std::set<std::string> names;
  for (const Arm& arm : arms()) EXPECT_TRUE(names.insert(arm.name).second) << arm.name;
}

TEST(Corpus, EveryArmRunsOnHostAndSaysWhatMustBeNamed) {
  for (const Arm& arm : arms()) {
    EXPECT_TRUE(arm.equivalent || !arm.must_name.empty()) << arm.name;
    EXPECT_TRUE(runs_on(arm, DeviceKind::kHost)) << arm.name;
  }
}

/// What no shipped consumer reads has no address to get wrong; whatever one reads has arms.
TEST(Corpus, OnlyFieldsThatNobodyReadsHaveNoAddressArms) {
  std::set<std::string> unread;
  for (const Contract* plane : clean_catalog().planes()) {
    for (const Field& field : plane->fields) unread.insert(plane->name + "." + field.name);
  }
  for (const ConsumerSpec& consumer : clean_catalog().consumers()) {
    for (const FieldUse& use : consumer.reads) {
      for (const std::string& field : use.fields) unread.erase(use.plane->name + "." + field);
    }
  }
  const auto without = mutants::fields_without_reader();
  EXPECT_EQ(std::set<std::string>(without.begin(), without.end()), unread);
}

TEST(Corpus, HoldsFaultsThatAShapeHides) {
  const std::vector<Arm> generated = mutants::address_arms();
  const auto hidden = std::count_if(generated.begin(), generated.end(),
                                    [](const Arm& arm) { return arm.equivalent; });
  EXPECT_GE(hidden, 20);
}

/// `producer`, `upload`, ...; generated arms by the plane and field that they change.
std::string group_of(const Arm& arm) {
  const size_t colon = arm.name.find(": ");
  return arm.name.substr(0, colon);
}

void register_groups() {
  std::map<std::pair<std::string, DeviceKind>, std::vector<const Arm*>> groups;
  for (const Arm& arm : arms()) {
    for (const DeviceKind kind : {DeviceKind::kHost, DeviceKind::kCuda}) {
      if (runs_on(arm, kind)) groups[{group_of(arm), kind}].push_back(&arm);
    }
  }
  for (const auto& [key, members] : groups) {
    const DeviceKind kind = key.second;
    const std::string test = key.first + (kind == DeviceKind::kHost ? "/host" : "/cuda");
    testing::RegisterTest(
        "mutation", test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [members = members, kind]() -> testing::Test* { return new Group(members, kind); });
  }
}

}  // namespace
}  // namespace planegate

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  planegate::register_groups();
  return RUN_ALL_TESTS();
}
