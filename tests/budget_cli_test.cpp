#include <gmock/gmock.h>

#include <planegate/devices/device.h>

#include "catalog/catalog.h"
#include "cli/commands.h"
#include "tests/command_run.h"
#include "tests/json_schema.h"

/// `planegate budget`, run as a user would.
namespace planegate::test {
namespace {

using testing::HasSubstr;

/// Skips where this build made no kernels: the command then says that it verified nothing.
class BudgetCommand : public CommandTest {
 protected:
  void SetUp() override {
    for (const ConsumerSpec& consumer : shipped_catalog().consumers()) {
      if (!consumer.kernels_on(DeviceKind::kCuda).empty()) return;
    }
    const CommandRun ran = run({"budget"});
    EXPECT_EQ(ran.status, 4);
    EXPECT_EQ(ran.err, "planegate: built without a CUDA compiler: no kernels to judge\n");
    GTEST_SKIP() << "built without a CUDA compiler";
  }
  /// The shipped table with `from` replaced by `to` at its first place.
  std::string table(const std::string& from = "", const std::string& to = "") const {
    std::string text = content(cli::BudgetArguments().table);
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    write_text(path("table.json"), text);
    return path("table.json");
  }
};

TEST_F(BudgetCommand, HoldsForThisBuild) {
  const CommandRun ran = run({"budget", "--device", "host"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("w_exp/split_k/ReduceSplits"));
  EXPECT_THAT(ran.out, HasSubstr(" kernels, 0 breaches (nvcc "));
}

TEST_F(BudgetCommand, NamesABreachWithItsReason) {
  const CommandRun ran = run({"budget", "--device", "host", "--table",
                              table("\"blocks_per_sm\": 3", "\"blocks_per_sm\": 4")});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("budget BREACH padded/bytewise+w_dsc/GemmS8 sm_80: blocks_per_sm "
                                 "3, allowed at least 4: the launch bound asks for three"));
}

TEST_F(BudgetCommand, WritesTheDocumentedJson) {
  Schema schema = parsed_schema(content(PLANEGATE_BUDGETS_DOCUMENT));
  for (const std::string& file : {table(), table("\"registers\": 80", "\"registers\": 72")}) {
    run({"budget", "--device", "host", "--table", file, "--json", path("b.json")});
    EXPECT_EQ(errors_of(json::parse(content(path("b.json"))), "run", schema), "");
  }
  EXPECT_EQ(json::parse(content(path("b.json")))["breaches"][0]["quantity"], "registers");
}

TEST_F(BudgetCommand, UpdatesATableToThisBuild) {
  const std::string file = table("\"registers\": 80", "\"registers\": 72");
  const CommandRun ran = run({"budget", "--update", "--table", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("registers 72 -> 80"));
  EXPECT_EQ(run({"budget", "--device", "host", "--table", file}).status, 0);
}

TEST_F(BudgetCommand, SaysWhichInputItCannotRead) {
  CommandRun ran = run({"budget", "--table", path("none.json")});
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.err, "planegate: " + path("none.json") + ": No such file or directory\n");
  EXPECT_EQ(run({"budget", "--table", path("")}).err,
            "planegate: " + path("") + ": Is a directory\n");
  ran = run({"budget", "--reports", path("none")});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("toolchain.txt: No such file or directory; build kernel_reports"));
  ran = run({"budget", "--table", table("\"toolchain\"", "\"tool\"")});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("tool: is no member of it"));
}

}  // namespace
}  // namespace planegate::test
