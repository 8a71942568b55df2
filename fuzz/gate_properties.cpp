#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fuzz/generator.h"
#include "fuzz/run_case.h"
#include "gates/addresses.h"
#include "tests/gate_tests.h"

/// Every gate over generated shapes and payloads, on host.
namespace planegate::fuzz {
namespace {

constexpr const char* kFormat = "q6_K";

/// Small enough for 25 cases a property.
const Generator& generator() {
  static const Generator small(shipped_catalog(), kFormat, {}, {257, 8, 129, 24}, 1);
  return small;
}

std::vector<GateReport> verified(const Catalog& catalog, const Case& c,
                                 const gates::Selection& selection) {
  const auto device = make_host_device();
  gates::Context context{catalog, *device, c.seed};
  const SampleTensor tensor(catalog, c.format, c.shape, c.seed);
  return gates::verify_tensor(context, tensor.raw, selection);
}

/// The gate ran for at least one subject, and was green for all.
void require_green(const std::string& gate, const std::vector<GateReport>& reports) {
  int ran = 0;
  for (const GateReport& report : reports) {
    if (report.gate != gate || report.refused) continue;
    ++ran;
    if (report.verdict != Verdict::kPass) RC_FAIL(text(report));
  }
  RC_ASSERT(ran > 0);
}

std::vector<std::string> plane_names() {
  std::vector<std::string> names;
  for (const Contract* plane : shipped_catalog().planes()) names.push_back(plane->name);
  return names;
}

RC_GTEST_PROP(MirrorGate, IsGreenForEveryPlaneAndShape, ()) {
  require_green("mirror", verified(shipped_catalog(), *generator().any(), {plane_names(), {}}));
}

RC_GTEST_PROP(ReadbackGate, IsGreenForEveryPlaneAndShape, ()) {
  require_green("readback", verified(shipped_catalog(), *generator().any(), {plane_names(), {}}));
}

/// Everything but addresses, which have a property of their own.
gates::Selection all_consumers() {
  gates::Selection selection;
  selection.addresses = gates::Addresses::kNever;
  return selection;
}

RC_GTEST_PROP(ParityGate, IsGreenForEveryConsumerAndCase, ()) {
  const Case c = *generator().any();
  const auto device = make_host_device();
  require_green("parity", run_case(shipped_catalog(), *device, c, generator().consumers(c.shape)));
}

RC_GTEST_PROP(ChainGate, IsGreenForEveryConsumerAndShape, ()) {
  require_green("chain", verified(shipped_catalog(), *generator().any(), all_consumers()));
}

RC_GTEST_PROP(AddressesPart, AreTheContractsForAnyConsumerAndShape, ()) {
  const auto& consumers = shipped_catalog().consumers();
  const ConsumerSpec& consumer = consumers[*rc::gen::inRange<size_t>(0, consumers.size())];
  const Case c = *generator().any();
  RC_PRE(!consumer.refusal(c.shape));
  const auto device = make_host_device();
  gates::Context context{shipped_catalog(), *device, c.seed};
  const GateReport report = gates::addresses(context, consumer, "sample.weight", c.shape);
  if (report.verdict != Verdict::kPass) RC_FAIL(text(report));
}

/// The planted stride bug must fail, and must shrink to a shape in which one of both strides is
/// used exactly once. RapidCheck evaluates smaller and smaller cases: the last failing one is the
/// case that it reports.
TEST(StrideBug, ShrinksToAMinimalShape) {
  const Catalog catalog = catalog_with_known_bad();
  for (const char* name : {"w_exp/bytewise+padded_address", "w_exp/copy16+padded_address",
                           "w_exp/cp_async+padded_address"}) {
    const ConsumerSpec* consumer = catalog.consumer(name);
    const auto device = make_host_device();
    Case last;
    int failures = 0;
    const bool green = rc::check(fmt::format("{} (planted: must fail)", name), [&] {
      const Case c = *generator().any();
      if (run_case(catalog, *device, c, {consumer}).front().verdict == Verdict::kPass) return;
      last = c;
      ++failures;
      RC_FAIL("parity is red");
    });
    EXPECT_FALSE(green) << name << " was not found";
    EXPECT_GT(failures, 0);
    const std::array<int64_t, 3> found = {last.shape.od(), last.shape.nsb(), last.shape.nt()};
    EXPECT_TRUE((found == std::array<int64_t, 3>{2, 1, 1}) ||
                (found == std::array<int64_t, 3>{1, 2, 1}))
        << "shrunk to " << last.shape.text();
    EXPECT_EQ(last.knobs, Knobs{});
    fmt::print("{} shrinks to {}\n", name, text(last));
  }
}

}  // namespace
}  // namespace planegate::fuzz

int main(int argc, char** argv) {
  // Fixed seed unless the caller asks for another; RapidCheck prints what it uses.
  setenv("RC_PARAMS", "seed=1 max_success=25", 0);
  fmt::print("RC_PARAMS: {}\n", std::getenv("RC_PARAMS"));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
