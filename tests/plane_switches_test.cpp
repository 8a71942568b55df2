#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/store/plane_switches.h>

namespace planegate {
namespace {

TEST(PlaneSwitches, UnnamedPlanesAreOn) {
  EXPECT_FALSE(PlaneSwitches().off("w_exp"));
}

TEST(PlaneSwitches, OffSaysWhoChoseIt) {
  PlaneSwitches switches;
  switches.set("w_dsc=on,w_exp=off", "--use");
  EXPECT_EQ(switches.off("w_exp"), "plane w_exp is off by choice (--use w_exp=off)");
  EXPECT_FALSE(switches.off("w_dsc"));
  EXPECT_THAT(switches.named(), testing::ElementsAre("w_dsc", "w_exp"));
}

TEST(PlaneSwitches, LaterWins) {
  PlaneSwitches switches;
  switches.set("w_exp=off", "PLANEGATE_USE");
  switches.set("w_exp=on", "--use");
  EXPECT_FALSE(switches.off("w_exp"));
}

TEST(PlaneSwitches, RefusesOtherTextsAndAppliesNothing) {
  for (const char* text : {"w_exp", "w_exp=", "=off", "w_exp=maybe", "a=off,b", "a=off,,b=on"}) {
    PlaneSwitches switches;
    EXPECT_THROW(switches.set(text, "--use"), ContractError) << text;
    EXPECT_TRUE(switches.named().empty()) << text;
  }
}

TEST(PlaneSwitches, ReadsTheEnvironment) {
  setenv(PlaneSwitches::kEnvironment, "w_exp=off", 1);
  EXPECT_EQ(PlaneSwitches::from_environment().off("w_exp"),
            "plane w_exp is off by choice (PLANEGATE_USE w_exp=off)");
  unsetenv(PlaneSwitches::kEnvironment);
  EXPECT_FALSE(PlaneSwitches::from_environment().off("w_exp"));
}

}  // namespace
}  // namespace planegate
