#include <gmock/gmock.h>

#include "cli/census_report.h"
#include "cli/commands.h"
#include "tests/command_run.h"
#include "tests/json_schema.h"

/// `planegate census`, run as a user would.
namespace planegate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CensusCommand : public CommandTest {
 protected:
  CommandRun census(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"census", model(), "--device", "host"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  json written(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--json", path("c.json")});
    EXPECT_EQ(census(more).status, 0);
    return json::parse(content(path("c.json")));
  }
};

TEST_F(CensusCommand, ListsPlanesReadersAndWhatNobodyReads) {
  const CommandRun ran = census();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("blk.0.a.weight"), HasSubstr("70 x 512"),
                             HasSubstr("q6_K/w_exp   35840"), HasSubstr("w_exp/cp_async+w_dsc")));
  EXPECT_THAT(ran.out, HasSubstr("planes without a reader at any nt: none\n"));
  EXPECT_THAT(ran.out,
              HasSubstr("fields that nobody reads at any nt: q8_0/sda.sum, q8_0/pad40.sum\n"));
  EXPECT_THAT(ran.out, HasSubstr("readers without a gate: none\n"));
  EXPECT_THAT(ran.out, HasSubstr("no planes: f32 of 1 tensors, 2.00 KiB (2048 bytes)\n"));
  EXPECT_THAT(ran.out, HasSubstr("device host: has no memory of its own\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("within")));
}

TEST_F(CensusCommand, SaysWhichTensorsGetWhichPlanes) {
  const CommandRun ran = census({"--vram", "40KiB"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("within 40.00 KiB (40960 bytes) at nt=70:"));
  EXPECT_THAT(ran.out, HasSubstr("left: "));
  EXPECT_THAT(census({"--vram", "1"}).out,
              AllOf(HasSubstr("within 1 byte at"),
                    HasSubstr("without planes on the device: blk.0.a.weight, blk.0.b.weight")));
  EXPECT_EQ(census({"--vram", "40KiB"}).out, ran.out);
}

TEST_F(CensusCommand, RefusesASizeThatIsNone) {
  for (const char* wrong : {"2GB", "-1", "0", "much", ""}) {
    const CommandRun ran = census({"--vram", wrong});
    EXPECT_EQ(ran.status, 2) << wrong;
    EXPECT_THAT(ran.err,
                HasSubstr("must be a whole number above 0 of bytes, KiB, MiB, GiB or TiB"));
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(CensusCommand, RefusesWhatItCannotCount) {
  EXPECT_EQ(run({"census", path("none.gguf")}).status, 3);
  EXPECT_EQ(run({"census"}).status, 2);
  const CommandRun ran = run({"census", f32_model(), "--device", "host"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("no tensor of a registered weight format"));
  EXPECT_EQ(census({"--json", model()}).status, 2) << "the model itself";
}

TEST_F(CensusCommand, StatesItsRule) {
  EXPECT_THAT(run({"census", "--help"}).out, HasSubstr("greedy by benefit per byte"));
}

/// With every member that a run on this machine need not have.
json written_by_hand() {
  cli::Census census;
  census.memory = DeviceMemory{1, 2};
  census.tensors = {{"t", "q6_K", Shape(1, 256), 210}};
  census.planes = {{}};
  census.planes_without_reader = {"q6_K/raw"};
  census.ungated = {{"w_exp/new", "plane w_exp has no mirror"}};
  return json::parse(cli::census_json(census, 1));
}

TEST_F(CensusCommand, WritesTheDocumentedJson) {
  Schema schema = parsed_schema(content(PLANEGATE_CENSUS_SCHEMA));
  for (const json& value : {written(), written({"--vram", "40KiB"}), written({"--vram", "1"}),
                            written({"--nt", "100000000"}), written_by_hand()}) {
    EXPECT_EQ(errors_of(value, "run", schema), "");
  }
  for (const auto& [object, members] : schema) {
    for (const auto& [name, member] : members) {
      EXPECT_TRUE(member.seen_present) << object << "." << name << " was never written";
      EXPECT_EQ(member.seen_absent, !member.always) << object << "." << name;
    }
  }
}

TEST_F(CensusCommand, CountsInJsonWhatItPrints) {
  const json run = written({"--vram", "1GiB"});
  EXPECT_EQ(run["schema"], cli::kCensusSchema);
  const json& plane = run["tensors"][0]["planes"][2];
  EXPECT_EQ(plane["plane"], "w_exp");
  EXPECT_EQ(plane["bytes"], 35840);
  EXPECT_EQ(plane["generation"], 1);
  EXPECT_EQ(run["plan"]["tensors"][0]["consumer"], "w_exp/f16");
  EXPECT_EQ(run["plan"]["used_bytes"].get<int64_t>() + run["plan"]["left_bytes"].get<int64_t>(),
            int64_t{1} << 30);
}

}  // namespace
}  // namespace planegate::test
