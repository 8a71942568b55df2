#include <gmock/gmock.h>

#include "tests/command_run.h"

/// Two holes of CTest: fixtures order tests, and lock nothing. What depends on a fixture that was
/// skipped, or dropped by -FS, runs all the same, so a timing has to refuse by itself.
namespace planegate {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class CtestHoles : public test::CommandTest {
 protected:
  /// Runs ctest over gates that are skipped, a timing behind them that asks nobody, and `planegate
  /// ab` behind them.
  std::string ctest(const std::string& more) const {
    test::write_text(
        path("CTestTestfile.cmake"),
        "add_test(gates sh -c \"exit 77\")\n"
        "set_tests_properties(gates PROPERTIES FIXTURES_SETUP green SKIP_RETURN_CODE 77)\n"
        "add_test(trusting sh -c \"echo 1.5 times faster\")\n"
        "set_tests_properties(trusting PROPERTIES FIXTURES_REQUIRED green)\n"
        "add_test(asking \"" PLANEGATE_COMMAND
        "\" ab --a w_exp/copy16 --b w_exp/cp_async --od 9 --id 512 --nt 3 --device host)\n"
        "set_tests_properties(asking PROPERTIES FIXTURES_REQUIRED green)\n");
    const std::string command = "cd " + path(".") + " && " PLANEGATE_CTEST " -V " + more + " > " +
                                path("captured/ctest") + " 2>&1";
    EXPECT_NE(std::system(command.c_str()), 0);
    return test::content(path("captured/ctest"));
  }
};

TEST_F(CtestHoles, ATimingBehindSkippedGatesRunsAndRefusesByItself) {
  const std::string out = ctest("");
  EXPECT_THAT(out, ContainsRegex("gates \\.+\\*\\*\\*Skipped"));
  EXPECT_THAT(out, ContainsRegex("trusting \\.+ +Passed")) << "the hole";
  EXPECT_THAT(out, ContainsRegex("asking \\.+\\*\\*\\*Failed"));
  EXPECT_THAT(out, HasSubstr("no token: --token FILE"));
}

TEST_F(CtestHoles, ATimingWithItsFixtureDroppedRunsAndRefusesByItself) {
  const std::string out = ctest("-FS green -R \"trusting|asking\"");
  EXPECT_THAT(out, testing::Not(HasSubstr("gates ")));
  EXPECT_THAT(out, ContainsRegex("trusting \\.+ +Passed")) << "the hole";
  EXPECT_THAT(out, ContainsRegex("asking \\.+\\*\\*\\*Failed"));
  EXPECT_THAT(out, HasSubstr("no token: --token FILE"));
}

}  // namespace
}  // namespace planegate
