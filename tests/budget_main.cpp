#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "cli/commands.h"
#include "gates/perf/budget_run.h"
#include "tests/require_device.h"

/// One test per kernel and architecture: `sm_90.w_exp/split_k/ReduceSplits`; beside them what no
/// kernel owns: entries left over, the disassembly, the device.
namespace planegate {
namespace {

using perf::BudgetRun;

/// Empty text where the run is there.
struct Outcome {
  BudgetRun run;
  std::string error;
};

const Outcome& outcome() {
  static const Outcome made = [] {
    const cli::BudgetArguments defaults;
    try {
      return Outcome{
          perf::budget_of_this_program(shipped_catalog(), defaults.reports, defaults.table), ""};
    } catch (const std::exception& error) {
      return Outcome{{}, error.what()};
    }
  }();
  return made;
}

bool is_built(const perf::Breach& breach) {
  const auto& kernels = outcome().run.kernels;
  return std::any_of(kernels.begin(), kernels.end(), [&](const perf::BuiltKernel& kernel) {
    return kernel.instance == breach.instance && kernel.architecture == breach.architecture;
  });
}

class KernelTest : public testing::Test {
 public:
  explicit KernelTest(perf::BuiltKernel kernel) : kernel_(std::move(kernel)) {}

  void TestBody() override {
    for (const perf::Breach& breach : outcome().run.breaches) {
      if (breach.instance == kernel_.instance && breach.architecture == kernel_.architecture) {
        ADD_FAILURE() << "budget BREACH " << text_of(breach);
      }
    }
  }

 private:
  perf::BuiltKernel kernel_;
};

/// Skips where this build has no kernels; fails where they cannot be judged.
class BuildTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(outcome().error, "");
    if (outcome().run.kernels.empty()) {
      GTEST_SKIP() << "built without a CUDA compiler: no kernels to judge";
    }
  }
};

using table = BuildTest;
using disassembly = BuildTest;
using device = BuildTest;

TEST_F(table, has_no_entry_left_over) {
  for (const perf::Breach& breach : outcome().run.breaches) {
    if (!is_built(breach)) ADD_FAILURE() << "budget BREACH " << text_of(breach);
  }
}

TEST_F(disassembly, is_there) {
  if (!outcome().run.has_instructions()) {
    GTEST_SKIP() << "no nvdisasm (CMake: PLANEGATE_NVDISASM): instructions are not checked";
  }
}

TEST_F(device, agrees_with_the_reports) {
  const auto cuda = test::require_cuda_device();
  if (cuda == nullptr) return;
  for (const perf::Breach& breach :
       perf::disagreements(shipped_catalog(), outcome().run.kernels, *cuda)) {
    ADD_FAILURE() << "budget BREACH " << text_of(breach);
  }
}

void register_kernels() {
  for (const perf::BuiltKernel& kernel : outcome().run.kernels) {
    testing::RegisterTest(kernel.architecture.c_str(), kernel.instance.c_str(), nullptr, nullptr,
                          __FILE__, __LINE__,
                          [kernel]() -> testing::Test* { return new KernelTest(kernel); });
  }
}

}  // namespace
}  // namespace planegate

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  planegate::register_kernels();
  const int status = RUN_ALL_TESTS();
  // A name that the filter takes apart would select nothing, and pass.
  const bool ran = testing::UnitTest::GetInstance()->test_to_run_count() > 0;
  return ran || GTEST_FLAG_GET(list_tests) ? status : 1;
}
