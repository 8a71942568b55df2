#include "gates/perf/budget.h"

#include <gmock/gmock.h>

/// The table, and what is a breach.
namespace planegate::perf {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr const char* kToolchain = "nvcc 13.0.88";

BuiltKernel kernel() {
  BuiltKernel made;
  made.instance = "w_exp/cp_async/GemmS8";
  made.architecture = "sm_90";
  made.kernel = "GemmS8";
  made.code = "code";
  made.code_hash = "c0de";
  made.found = {{Quantity::kRegisters, 80},  {Quantity::kStack, 24},
                {Quantity::kSpill, 48},      {Quantity::kShared, 33792},
                {Quantity::kBlocksPerSm, 3}, {Quantity::kLocalInLoop, 5}};
  made.instructions = InstructionCounts{16, 16, 5};
  made.needs_async_copies = made.needs_mma = true;
  return made;
}

BudgetTable table() {
  BudgetTable made = updated({}, kToolchain, {kernel()});
  for (auto& [quantity, reason] : made.reasons["GemmS8"]) reason = "why " + text_of(quantity);
  return made;
}

std::vector<std::string> found(const BuiltKernel& built, const BudgetTable& allowed = table(),
                               const std::string& toolchain = kToolchain) {
  std::vector<std::string> texts;
  for (const Breach& breach : breaches(allowed, toolchain, {built})) {
    texts.push_back(text_of(breach));
  }
  return texts;
}

TEST(Budget, HoldsForWhatTheTableWasMadeOf) {
  EXPECT_THAT(found(kernel()), IsEmpty());
}

TEST(Budget, NamesEachQuantityThatIsBeyondIt) {
  for (const Quantity quantity : kQuantities) {
    BuiltKernel built = kernel();
    const bool blocks = quantity == Quantity::kBlocksPerSm;
    const int64_t was = built.found[quantity];
    built.found[quantity] = blocks ? was - 1 : was + 1;
    const std::string name = text_of(quantity);
    EXPECT_THAT(found(built),
                ElementsAre("w_exp/cp_async/GemmS8 sm_90: " + name + " " +
                            std::to_string(built.found[quantity]) + ", allowed at " +
                            (blocks ? "least " : "most ") + std::to_string(was) + ": why " + name));
    built.found[quantity] = blocks ? was + 1 : was - 1;
    EXPECT_THAT(found(built), IsEmpty()) << name << " below its budget";
  }
}

TEST(Budget, AsksForTheInstructionsThatThePoliciesPromise) {
  BuiltKernel built = kernel();
  built.instructions->async_copies = 0;
  EXPECT_THAT(found(built),
              ElementsAre(HasSubstr("16-byte asynchronous copies 0, allowed at least")));
  built.instructions->mma = 0;
  built.needs_async_copies = false;
  EXPECT_THAT(found(built), ElementsAre(HasSubstr("mma instructions 0")));
  built.needs_mma = false;
  EXPECT_THAT(found(built), IsEmpty());
}

TEST(Budget, WithoutADisassemblerStillHoldsTheRest) {
  BuiltKernel built = kernel();
  built.instructions.reset();
  built.found.erase(Quantity::kLocalInLoop);
  EXPECT_THAT(found(built), IsEmpty());
  built.found[Quantity::kRegisters] = 81;
  EXPECT_THAT(found(built), ElementsAre(HasSubstr("registers 81")));
}

TEST(Budget, SeesCodeThatChangedUnderItsOwnToolchain) {
  BuiltKernel built = kernel();
  built.code_hash = "0ther";
  EXPECT_THAT(found(built), ElementsAre(AllOf(HasSubstr("code 0ther, allowed c0de"),
                                              HasSubstr("planegate budget --update"))));
}

TEST(Budget, OfAnotherToolchainSaysSoWithEachBreach) {
  BuiltKernel built = kernel();
  built.code_hash = "0ther";
  EXPECT_THAT(found(built, table(), "nvcc 14.0.1"), IsEmpty()) << "other code, same budget";
  built.found[Quantity::kRegisters] = 96;
  EXPECT_THAT(found(built, table(), "nvcc 14.0.1"),
              ElementsAre(AllOf(HasSubstr("registers 96, allowed at most 80: why registers"),
                                HasSubstr("the table was made with nvcc 13.0.88, this build with "
                                          "nvcc 14.0.1"))));
}

TEST(Budget, NeedsAnEntryForEachKernelAndAKernelForEachEntry) {
  BuiltKernel built = kernel();
  built.instance = "w_exp/new/GemmS8";
  EXPECT_THAT(found(built),
              ElementsAre(HasSubstr("w_exp/new/GemmS8 sm_90: entry none"),
                          HasSubstr("w_exp/cp_async/GemmS8 sm_90: entry no such kernel")));
  built = kernel();
  built.architecture = "sm_80";
  EXPECT_THAT(found(built), ElementsAre(HasSubstr("sm_80: entry none")))
      << "sm_90 is not built, its entries are not judged";
}

TEST(Budget, SeesReportsOfAnotherBuild) {
  EXPECT_THAT(not_in_program({kernel()}, "some code here"), IsEmpty());
  const auto missing = not_in_program({kernel()}, "another program");
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_THAT(text_of(missing[0]), HasSubstr("the reports are of another build"));
}

/// A device whose runtime reports `attributes`.
class Reporting : public Device {
 public:
  KernelAttributes attributes{"sm_90", 80, 24, 33792, 3};

  DeviceKind kind() const override { return DeviceKind::kCuda; }
  std::string name() const override { return "cuda"; }
  std::string description() const override { return "reporting"; }
  std::string driver() const override { return "none"; }
  DeviceBuffer allocate(std::string name, int64_t size_bytes, std::byte fill) override {
    return {*this, std::move(name), 0, size_bytes, fill};
  }
  void fill(const DeviceBuffer&, std::byte) override {}
  void upload(const DeviceBuffer&, std::span<const std::byte>) override {}
  void read_back(const DeviceBuffer&, std::span<std::byte>) override {}
  void synchronise() override {}
  std::optional<GuardBreach> breached_guard(const DeviceBuffer&) override { return {}; }
  double timed_s(const std::function<void()>&) override { return 0; }
  std::optional<KernelAttributes> attributes_of(const KernelEntry&) override { return attributes; }

 protected:
  void free(DeviceAddress) noexcept override {}
};

Catalog catalog() {
  ConsumerSpec consumer;
  consumer.name = "w_exp/cp_async";
  consumer.launches = {{DeviceKind::kCuda, nullptr, {{"ns::GemmS8<int>", 256, 3, 0, nullptr}}}};
  Catalog made;
  made.add(std::move(consumer));
  return made;
}

TEST(Budget, SeesADeviceThatDisagreesWithTheReports) {
  Reporting device;
  EXPECT_THAT(disagreements(catalog(), {kernel()}, device), IsEmpty());
  device.attributes.stack_bytes = 32;
  EXPECT_THAT(disagreements(catalog(), {kernel()}, device), IsEmpty()) << "24 in units of 16";
  device.attributes.blocks_per_sm = 2;
  const auto differing = disagreements(catalog(), {kernel()}, device);
  ASSERT_EQ(differing.size(), 1u);
  EXPECT_THAT(text_of(differing[0]), HasSubstr("blocks_per_sm on the device 2, allowed 3"));
  BuiltKernel with_letter = kernel();
  with_letter.architecture = "sm_90a";
  EXPECT_EQ(disagreements(catalog(), {with_letter}, device).at(0).quantity,
            "blocks_per_sm on the device");
  device.attributes.architecture = "sm_86";
  EXPECT_THAT(text_of(disagreements(catalog(), {kernel()}, device).at(0)),
              HasSubstr("sm_86: report none"));
}

TEST(BuiltKernels, AreThoseOfTheCatalogOnEachArchitecture) {
  KernelReports reports;
  reports.kernels["sm_80"]["ns::GemmS8<int>"] = {{80, 24, 48, 33792}, "code", std::nullopt};
  const auto built = built_kernels(catalog(), reports);
  ASSERT_EQ(built.size(), 1u);
  EXPECT_EQ(built[0].instance, "w_exp/cp_async/GemmS8");
  EXPECT_EQ(built[0].found.at(Quantity::kBlocksPerSm), 3);
  reports.kernels["sm_90"];
  EXPECT_THAT([&] { built_kernels(catalog(), reports); },
              ThrowsMessage<ReportError>(HasSubstr("sm_90: no report of ns::GemmS8<int>")));
}

TEST(BudgetTableFile, SurvivesWritingAndReading) {
  BudgetTable made = table();
  made.entries["sm_90"]["w_exp/cp_async/GemmS8"].reasons[Quantity::kSpill] = "its own";
  EXPECT_EQ(parsed_budgets("t.json", to_json(made)), made);
}

TEST(BudgetTableFile, RefusesWhatIsNoTable) {
  const std::string good = to_json(table());
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& words) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    EXPECT_THAT([&] { parsed_budgets("t.json", text); },
                ThrowsMessage<ReportError>(AllOf(HasSubstr("t.json: "), HasSubstr(words))));
  };
  refused("{", "", "is no JSON");
  refused("budgets/1", "budgets/2", "schema: must be planegate.budgets/1");
  refused("\"toolchain\": \"nvcc 13.0.88\"", "\"toolchain\": 13", "toolchain: must be a string");
  refused("\"registers\": 80", "\"registers\": -1", "registers: must be a whole number");
  refused("\"registers\": 80", "\"register\": 80", "register: is no member of it");
  refused("\"why registers\"", "\"\"", "reasons.GemmS8.registers: is empty: say why");
  refused("\"registers\": \"why registers\",", "", "no reason for its registers");
}

TEST(BudgetUpdate, KeepsReasonsAndLeavesMissingOnesToBeWritten) {
  BuiltKernel built = kernel();
  built.found[Quantity::kRegisters] = 96;
  const BudgetTable after = updated(table(), "nvcc 14.0.1", {built});
  EXPECT_EQ(after.reasons, table().reasons);
  EXPECT_EQ(after.toolchain, "nvcc 14.0.1");
  EXPECT_THAT(found(built, after, "nvcc 14.0.1"), IsEmpty());
  built.kernel = "GemmS9";
  built.instance = "w_exp/cp_async/GemmS9";
  EXPECT_THAT([&] { parsed_budgets("t", to_json(updated(table(), kToolchain, {built}))); },
              ThrowsMessage<ReportError>(HasSubstr("GemmS9.registers: is empty")));
}

TEST(BudgetUpdate, NeedsADisassemblerForAKernelThatIsNew) {
  BuiltKernel built = kernel();
  built.found.erase(Quantity::kLocalInLoop);
  EXPECT_EQ(updated(table(), kToolchain, {built}), table()) << "kept";
  EXPECT_THAT([&] { updated({}, kToolchain, {built}); },
              ThrowsMessage<ReportError>(HasSubstr("needs nvdisasm")));
}

}  // namespace
}  // namespace planegate::perf
