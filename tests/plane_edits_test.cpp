#include "mutants/plane_edits.h"

#include <algorithm>

#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>

#include "catalog/catalog.h"

namespace planegate::mutants {
namespace {

using Plane = std::vector<std::byte>;

const Shape kShape(3, 512, 9);

Plane zeros(const Contract& contract) {
  return Plane(static_cast<size_t>(contract.size_bytes(kShape)));
}

/// Each value of each field: what is set comes back, at the byte that locate() calls by its name.
void expect_values_lie_by_contract(const Contract& contract) {
  for (const Field& field : contract.fields) {
    const Values values(contract, kShape, field.name);
    values.for_each([&](Place at) {
      Plane plane = zeros(contract);
      values.set(plane, at, 1);
      EXPECT_EQ(values.get(plane, at), 1u);
      const auto lit = std::find_if(plane.begin(), plane.end(),
                                    [](std::byte byte) { return byte != std::byte{0}; });
      ASSERT_NE(lit, plane.end());
      const auto found = locate(contract, kShape, lit - plane.begin());
      ASSERT_TRUE(found);
      EXPECT_STREQ(found->field->name, field.name);
      EXPECT_EQ(found->line, at.line);
      // A byte of several values is called by the first of them.
      if (field.bits >= 8) {
        EXPECT_EQ(found->k, at.k);
      }
    });
  }
}

TEST(PlaneEdits, ValuesLieWhereTheContractSays) {
  for (const Contract* plane : shipped_catalog().planes()) expect_values_lie_by_contract(*plane);
}

TEST(PlaneEdits, RefuseAFieldThatThePlaneLacks) {
  EXPECT_THROW(Values(describe<q6_k::WExp>(), kShape, "ql"), ContractError);
}

TEST(PlaneEdits, ValueFromOutsideTheTensorIsRefused) {
  const Contract& w_exp = describe<q6_k::WExp>();
  Plane plane = zeros(w_exp);
  const PlaneEdit beyond = moved(w_exp, "codes", [](Place at, const Shape&) {
    return Place{at.line + 1, at.k};
  });
  EXPECT_THROW(beyond({"w", "q6_K", kShape, {}}, plane), ContractError);
}

TEST(PlaneEdits, PadBytesAreThoseThatNoFieldCovers) {
  const Contract& padded = describe<q6_k::Padded>();
  Plane plane = zeros(padded);
  padded_with(padded, std::byte{7})({"w", "q6_K", kShape, {}}, plane);
  for (size_t i = 0; i < plane.size(); ++i) {
    EXPECT_EQ(plane[i], i % 224 < 210 ? std::byte{0} : std::byte{7}) << i;
  }
}

gates::ArmResult run(const gates::Arm& arm) {
  return gates::run_arm(shipped_catalog(), arm, DeviceKind::kHost);
}

TEST(PlaneEdits, EditThatChangesNothingSurvives) {
  const gates::Arm arm = producer_arm(
      "padded", "padded/decode",
      {"left alone", "nibble-order", {"(ql)"}, crossed(describe<q6_k::Padded>(), "ql", 0)});
  EXPECT_EQ(run(arm).outcome, gates::Outcome::kSurvived);
}

TEST(PlaneEdits, EditOfTheMirrorAloneIsRedInMoreThanOneGate) {
  gates::Arm arm = producer_arm(
      "padded", "padded/decode",
      {"in the mirror", "nibble-order", {"(ql)"}, crossed(describe<q6_k::Padded>(), "ql", 64)});
  arm.plant = [edit = crossed(describe<q6_k::Padded>(), "ql", 64)](Catalog& catalog) {
    const ProducerSpec good = *catalog.producer("padded");
    plant_edit(catalog, "padded", edit, true);
    catalog.replace(good);
  };
  EXPECT_EQ(run(arm).have.text(), "FAIL pass FAIL skipped");
}

}  // namespace
}  // namespace planegate::mutants
