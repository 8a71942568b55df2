#include "gates/detectability.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>

#include "cli/commands.h"
#include "gates/compare.h"
#include "oracle/half.h"
#include "oracle/q6_k/block.h"
#include "tests/command_run.h"
#include "tests/gate_tests.h"
#include "tests/golden.h"

namespace planegate::gates {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kConsumer = "w_exp/cp_async";
const Shape kShape(7, 512, 3);
/// ffn_down of Qwen2.5-7B: rows of 18,944.
const Shape kLongRows(2, 18944, 1);

Detectability detected(const std::string& consumer, const Shape& shape,
                       const JudgingParts& parts = {}, const Catalog& catalog = shipped_catalog()) {
  const auto device = make_host_device();
  Context context{catalog, *device, 1};
  return detectability(context, *catalog.consumer(consumer), shape, parts);
}

GateReport always(Verdict verdict, const std::string& gate) {
  GateReport report;
  report.gate = gate;
  report.verdict = verdict;
  return report;
}

JudgingParts without_lattice() {
  JudgingParts parts;
  parts.lattice = [](auto&&...) { return always(Verdict::kPass, "lattice"); };
  return parts;
}

JudgingParts without_bound() {
  JudgingParts parts;
  parts.bound = [](auto&&...) { return always(Verdict::kPass, "bound"); };
  return parts;
}

JudgingParts without_judges() {
  JudgingParts parts = without_lattice();
  parts.bound = without_bound().bound;
  return parts;
}

bool of_codes(const PlantedFault& fault) {
  return fault.text.find(" codes of ") != std::string::npos ||
         fault.text.find(" ql of ") != std::string::npos;
}

TEST(Detectability, TextOfASmallShape) {
  test::expect_golden(cli::detect_text(detected(kConsumer, kShape)), "detect_small.txt");
}

TEST(Detectability, EachFaultOfTheSmallShapeIsSeenByAllLattices) {
  const Detectability found = detected(kConsumer, kShape);
  EXPECT_TRUE(found.complete());
  EXPECT_THAT(found.lattices, SizeIs(4));
  for (const PlantedFault& fault : found.faults) {
    EXPECT_EQ(fault.lattices, found.lattices) << fault.text;
    EXPECT_EQ(fault.mirror, fault.text.rfind("tail", 0) != 0) << fault.text;
  }
}

TEST(Detectability, BoundIsBlindForACodeOfALongRowAndLatticeIsNot) {
  const Detectability found = detected("padded/decode", kLongRows);
  EXPECT_TRUE(found.complete()) << found.sentence();
  const auto blind = std::find_if(found.faults.begin(), found.faults.end(), [](const auto& fault) {
    return of_codes(fault) && !fault.bound;
  });
  ASSERT_NE(blind, found.faults.end());
  EXPECT_EQ(blind->lattices, found.lattices);
}

TEST(Detectability, WithoutLatticeACodeOfALongRowIsSeenByNone) {
  const Detectability found = detected("padded/decode", kLongRows, without_lattice());
  EXPECT_FALSE(found.complete());
  EXPECT_THAT(found.sentence(), AllOf(HasSubstr("lattice sees 0"), HasSubstr("NOT SEEN: "),
                                      HasSubstr("ql of row 1, k 10544 off by one")));
}

TEST(Detectability, WithoutBoundLatticeSeesAll) {
  const Detectability found = detected(kConsumer, kShape, without_bound());
  EXPECT_TRUE(found.complete());
  EXPECT_THAT(found.sentence(), HasSubstr("bound 0"));
}

TEST(Detectability, WithoutJudgesNamesEveryFault) {
  const Detectability found = detected(kConsumer, kShape, without_judges());
  EXPECT_FALSE(found.complete());
  for (const PlantedFault& fault : found.faults) {
    EXPECT_FALSE(fault.judged());
    EXPECT_THAT(found.sentence(), HasSubstr(fault.text));
  }
}

// Bound sees no such change by its definition; in a lattice the sum rounds it away.
TEST(Detectability, AnUlpOfAStoredF32ScaleIsBelowWhatASumResolves) {
  const Detectability found = detected("w_exp/cp_async+w_dsc", kShape);
  EXPECT_FALSE(found.complete());
  EXPECT_THAT(found.sentence(), HasSubstr("NOT SEEN: w_dsc dsc of row "));
  for (const PlantedFault& fault : found.faults) {
    if (fault.text.rfind("w_dsc", 0) != 0) {
      EXPECT_TRUE(fault.judged()) << fault.text;
      continue;
    }
    EXPECT_TRUE(fault.mirror) << fault.text;
    EXPECT_FALSE(fault.bound) << fault.text;
  }
}

TEST(Detectability, SaysNothingOfAConsumerThatFailsOnRightPlanes) {
  const Detectability found =
      detected("w_exp/cp_async+padded_address", kShape, {}, catalog_with_known_bad());
  EXPECT_FALSE(found.complete());
  EXPECT_TRUE(found.faults.empty());
  EXPECT_THAT(found.sentence(), HasSubstr("lattice does not pass on right planes"));
}

TEST(Detectability, SaysNothingByAJudgeThatIsAlwaysRed) {
  JudgingParts parts;
  parts.bound = [](auto&&...) { return always(Verdict::kFail, "bound"); };
  const Detectability found = detected(kConsumer, kShape, parts);
  EXPECT_FALSE(found.complete());
  EXPECT_THAT(found.sentence(), HasSubstr("bound does not pass on right planes"));
}

TEST(Detectability, RefusesAShapeThatTheConsumerDoesNotTake) {
  EXPECT_THROW((void)detected("padded/decode", Shape(2, 256, 9)), ContractError);
}

std::vector<std::byte> read_back(Dataset& dataset, const Contract& plane) {
  const StoredPlane& stored = *dataset.store().find(dataset.tensor_of(plane), plane);
  std::vector<std::byte> bytes(static_cast<size_t>(stored.buffer.size_bytes()));
  dataset.store().device().read_back(stored.buffer, bytes);
  dataset.store().device().synchronise();
  return bytes;
}

/// On the device at each judgement: how many planes of the consumer differ from their mirrors.
TEST(Detectability, PlantsOneFaultAtATime) {
  std::vector<int> differing;
  JudgingParts parts = without_bound();
  parts.lattice = [&](Context&, const ConsumerSpec& consumer, Dataset& dataset) {
    int planes = 0;
    for (const FieldUse& use : consumer.reads) {
      const auto difference =
          compare_bytes(*use.plane, dataset.shape(), dataset.mirror(*use.plane).bytes(),
                        read_back(dataset, *use.plane));
      EXPECT_LE(difference.count, 2) << "two bytes where an ulp carries";
      planes += difference.count > 0;
    }
    differing.push_back(planes);
    return always(Verdict::kPass, "lattice");
  };
  const Detectability found = detected(kConsumer, kShape, parts);
  const size_t faults = found.faults.size();
  ASSERT_EQ(differing.size(), 4 * (faults + 1));
  for (size_t i = 0; i < differing.size(); ++i) {
    const size_t step = i % (faults + 1);
    EXPECT_EQ(differing[i], step == 0 || step == faults ? 0 : 1) << "judgement " << step;
  }
}

/// The shipped catalog whose sampled weights have every code and sub-scale at its largest.
Catalog catalog_of_largest_values() {
  Catalog catalog;
  for (FormatOracle format : shipped_catalog().formats()) {
    if (format.role == Role::kWeights) {
      format.sample = [](const Shape&, uint64_t, std::span<std::byte> bytes) {
        oracle::q6_k::Block block;
        block.codes.fill(63);
        block.sc.fill(127);
        block.d_bits = oracle::f64_to_f16(1.0);
        for (size_t at = 0; at < bytes.size(); at += 210) oracle::q6_k::encode(block, &bytes[at]);
      };
    }
    catalog.add(format);
  }
  for (const ProducerSpec& producer : shipped_catalog().producers()) {
    catalog.add(shipped_catalog().mirror(*producer.plane));
  }
  catalog.add(*shipped_catalog().consumer(kConsumer));
  return catalog;
}

TEST(Detectability, StaysInsideTheRangeOfAField) {
  std::set<int> codes;
  std::set<int> sub_scales;
  JudgingParts parts = without_lattice();
  parts.bound = [&](Context&, const ConsumerSpec& consumer, Dataset& dataset, const auto&) {
    for (const FieldUse& use : consumer.reads) {
      if (use.plane->role != Role::kWeights) continue;
      const auto bytes = read_back(dataset, *use.plane);
      for (size_t i = 0; i < bytes.size(); ++i) {
        const auto value = static_cast<int8_t>(bytes[i]);
        if (use.plane->name == "w_exp") codes.insert(value);
        if (use.plane->name == "raw" && i % 210 >= 192 && i % 210 < 208) sub_scales.insert(value);
      }
    }
    return always(Verdict::kPass, "bound");
  };
  (void)detected(kConsumer, kShape, parts, catalog_of_largest_values());
  EXPECT_EQ(codes, (std::set<int>{30, 31}));
  EXPECT_EQ(sub_scales, (std::set<int>{126, 127}));
}

using DetectCommand = test::CommandTest;

std::vector<std::string> arguments(const std::string& id, const std::string& nt,
                                   const std::string& consumer) {
  return {"detect", "--od",       "2",      "--id",     id,    "--nt",
          nt,       "--consumer", consumer, "--device", "host"};
}

TEST_F(DetectCommand, EndsWith0WhereEachFaultIsSeen) {
  const test::CommandRun ran = run(arguments("256", "1", "padded/decode"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("padded/decode od=2 id=256 nsb=1 nt=1 on host\n"),
                             HasSubstr("each is seen by a part that judges\n")));
}

TEST_F(DetectCommand, EndsWith1AndNamesWhatNoPartSees) {
  const test::CommandRun ran = run(arguments("512", "1", "padded/decode+w_dsc"));
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("NOT SEEN: w_dsc dsc of row "));
}

TEST_F(DetectCommand, WithoutAConsumerTakesEachThatTakesTheShape) {
  const test::CommandRun ran =
      run({"detect", "--od", "1", "--id", "256", "--nt", "9", "--device", "host"});
  EXPECT_EQ(ran.status, ran.out.find("NOT SEEN") == std::string::npos ? 0 : 1);
  for (const ConsumerSpec& consumer : shipped_catalog().consumers()) {
    const auto line = HasSubstr(consumer.name + " od=1 id=256 nsb=1 nt=9 on host\n");
    if (consumer.refusal(Shape(1, 256, 9))) {
      EXPECT_THAT(ran.out, Not(line));
    } else {
      EXPECT_THAT(ran.out, line);
    }
  }
}

TEST_F(DetectCommand, EndsWith2AtWrongUse) {
  const test::CommandRun unknown = run(arguments("256", "1", "w_exp/cp_asink"));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("--consumer w_exp/cp_asink: no such consumer; nearest: w_exp/cp_"));
  const test::CommandRun shapeless = run(arguments("0", "1", kConsumer));
  EXPECT_EQ(shapeless.status, 2);
  EXPECT_EQ(shapeless.err, "planegate: id=0: at least 1\n");
  EXPECT_EQ(run({"detect", "--od", "2", "--id", "256"}).status, 2);
}

TEST_F(DetectCommand, EndsWith4WhereTheConsumerRefusesTheShape) {
  const test::CommandRun ran = run(arguments("256", "9", "padded/decode"));
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.err,
            "planegate: nothing was verified at od=2 id=256 nsb=1 nt=9: padded/decode needs at "
            "most 8 tokens\n");
  EXPECT_EQ(run(arguments("640", "1", kConsumer)).status, 4);
}

}  // namespace
}  // namespace planegate::gates
