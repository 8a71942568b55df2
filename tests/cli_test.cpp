#include <functional>
#include <regex>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <planegate/devices/device.h>

#include "tests/command_run.h"

namespace planegate::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Arguments = std::vector<std::string>;

class Cli : public CommandTest {
 protected:
  /// The command ends with `status`, its stderr is `words` after the command's own name, and
  /// stdout is empty.
  void expect_refusal(const Arguments& arguments, int status, const std::string& words) const {
    const CommandRun ran = run(arguments);
    EXPECT_EQ(ran.status, status);
    EXPECT_EQ(ran.err, "planegate: " + words + "\n");
    EXPECT_EQ(ran.out, "");
  }
  void expect_wrong_use(const Arguments& arguments, const std::string& words) const {
    expect_refusal(arguments, 2, words + "\nRun with --help for more information.");
  }
};

/// A row of the table of reports, whatever its column widths.
testing::Matcher<const std::string&> has_row(const std::string& cells) {
  const std::string pattern = std::regex_replace(cells, std::regex(" \\| "), "  +");
  return testing::ResultOf(
      "row " + cells,
      [pattern](const std::string& text) {
        return std::regex_search(text, std::regex("(^|\n)" + pattern + "(\n|$)"));
      },
      true);
}

int64_t rows_with(const std::string& text, const std::string& cell) {
  const std::regex row("\n[^\n]*" + cell + "[^\n]*");
  return std::distance(std::sregex_iterator(text.begin(), text.end(), row), std::sregex_iterator());
}

/// One row a gate for `subject` of both tensors of CommandTest::model(), at nt 5.
void expect_rows(const std::string& out, const std::string& subject,
                 const std::vector<std::string>& gates,
                 const std::function<std::string(const Shape&)>& verdict) {
  const std::pair<const char*, Shape> tensors[] = {{"blk.0.a.weight", Shape(70, 512, 5)},
                                                   {"blk.0.b.weight", Shape(3, 256, 5)}};
  const std::string literal = std::regex_replace(subject, std::regex("[+]"), "[+]");
  for (const auto& [tensor, shape] : tensors) {
    for (const std::string& gate : gates) {
      EXPECT_THAT(out,
                  has_row(fmt::format("{} | {} x {}, nt 5 | {} | {} | host( .model.)? | {}", tensor,
                                      shape.od(), shape.id(), literal, gate, verdict(shape))));
    }
  }
}

/// Consumers that are wrong on purpose.
std::vector<std::string> known_bad() {
  std::vector<std::string> names;
  const Catalog all = catalog_with_known_bad();
  for (const ConsumerSpec& consumer : all.consumers()) {
    if (shipped_catalog().consumer(consumer.name) == nullptr) names.push_back(consumer.name);
  }
  return names;
}

TEST_F(Cli, VerifyRefusesMissingFile) {
  const std::string file = path("none.gguf");
  expect_refusal({"verify", file}, 3,
                 file +
                     ": byte 0: file=No such file or directory: a readable regular file with "
                     "content");
}

TEST_F(Cli, VerifyRefusesFolder) {
  expect_refusal({"verify", path("tmp")}, 3,
                 path("tmp") + ": byte 0: file=a directory: a readable regular file with content");
}

TEST_F(Cli, VerifyRefusesEmptyFile) {
  write_text(path("empty.gguf"), "");
  expect_refusal({"verify", path("empty.gguf")}, 3,
                 path("empty.gguf") + ": byte 0: file=empty: a readable regular file with content");
}

TEST_F(Cli, VerifyRefusesWhatIsNoGguf) {
  write_text(path("text.gguf"), "hello, this is a text");
  expect_refusal({"verify", path("text.gguf")}, 3,
                 path("text.gguf") + ": byte 0: magic=0x6c6c6568: \"GGUF\"");
}

TEST_F(Cli, VerifyRefusesTruncatedHeader) {
  write_text(path("short.gguf"), content(model()).substr(0, 40));
  const CommandRun ran = run({"verify", path("short.gguf")});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr(path("short.gguf") + ": byte "));
  EXPECT_EQ(ran.out, "");
}

TEST_F(Cli, VerifyRefusesTruncatedTensorByName) {
  write_text(path("short.gguf"), content(model()).substr(0, 20000));
  const CommandRun ran = run({"verify", path("short.gguf")});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("(tensor \"blk.0.a.weight\"): 29400 bytes from there"));
  EXPECT_EQ(ran.out, "");
}

TEST_F(Cli, VerifyWithoutMatchingFormatSaysWhatTheFileHolds) {
  const CommandRun ran = run({"verify", f32_model()});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(
      ran.err,
      "planegate: nothing was verified: no tensor of a registered weight format matches '*'; the "
      "file holds f32 1\n");
  EXPECT_THAT(ran.out, Not(HasSubstr("verdict")));
}

TEST_F(Cli, VerifyWithoutMatchingNameSaysWhatCouldBeVerified) {
  const CommandRun ran = run({"verify", model(), "--tensor", "nosuch*"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(
      ran.err,
      "planegate: nothing was verified: no tensor of a registered weight format matches 'nosuch*'; "
      "the file holds f32 1, q6_K 2; to be verified would be: blk.0.a.weight, "
      "blk.0.b.weight\n");
}

TEST_F(Cli, VerifyNamesNearestPlanes) {
  std::vector<std::string> known;
  for (const Contract* plane : shipped_catalog().planes()) known.push_back(plane->name);
  expect_refusal({"verify", model(), "--plane", "w_exo"}, 2,
                 fmt::format("--plane w_exo: no such name; nearest: {}",
                             fmt::join(nearest("w_exo", known), ", ")));
  EXPECT_EQ(nearest("w_exo", known).front(), "w_exp");
}

TEST_F(Cli, VerifyNamesNearestConsumers) {
  const CommandRun ran = run({"verify", model(), "--consumer", "w_exp/cp_asinc"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, StartsWith("planegate: --consumer w_exp/cp_asinc: no such name; nearest: "
                                  "w_exp/cp_async, "));
  EXPECT_EQ(ran.out, "");
}

TEST_F(Cli, VerifyDoesNotKnowKnownBadConsumers) {
  for (const std::string& bad : known_bad()) {
    EXPECT_EQ(run({"verify", model(), "--consumer", bad}).status, 2) << bad;
  }
}

TEST_F(Cli, RefusesWrongUse) {
  expect_wrong_use({}, "A subcommand is required");
  expect_refusal({"verfy"}, 2, "verfy: no such subcommand; nearest: verify, replay, demo");
  expect_refusal({"--frob"}, 2, "--frob: no such option");
  expect_wrong_use({"verify", "--frob"}, "The following argument was not expected: --frob");
  expect_wrong_use({"verify", "a", "b"}, "The following argument was not expected: b");
  expect_wrong_use({"verify", "--device", "gpu"}, "--device: gpu not in {auto,host,cuda}");
  expect_wrong_use({"sample"}, "OUT is required");
  for (const auto& [option, name] : {std::pair("--plane", "w_exp"), {"--consumer", "w_exp/f16"}}) {
    expect_refusal({"verify", option, name, "--use", "w_exp=off"}, 2,
                   "--use: switches what Dispatch may choose from, and with --plane or --consumer "
                   "nothing is dispatched");
  }
}

TEST_F(Cli, RefusesNumbersOutOfRange) {
  expect_wrong_use({"verify", "--nt", "0"}, "--nt: Value 0 not in range 1 to 4294967296");
  expect_wrong_use({"verify", "--nt", "-1"}, "--nt: Value -1 not in range 1 to 4294967296");
  expect_wrong_use({"verify", "--nt", "x"}, "--nt: Value x not in range 1 to 4294967296");
  expect_wrong_use({"verify", "--seed", "-1"},
                   "--seed: '-1' must be a whole number from 0 to 2^64-1");
  EXPECT_EQ(run({"verify", "--seed", "x"}).status, 2);
}

TEST_F(Cli, RefusesEmptyArgumentsInsteadOfLeavingThemOut) {
  expect_wrong_use({"verify", ""}, "MODEL: is empty");
  expect_wrong_use({"verify", "--json", ""}, "--json: is empty");
  EXPECT_EQ(run({"sample", ""}).status, 2);
}

TEST_F(Cli, SucceedsOnlyWhereItsOutputArrived) {
  std::filesystem::create_symlink("/dev/full", path("captured/out"));
  const auto unwritten = [&](const Arguments& arguments, int status) {
    const CommandRun ran = run(arguments);
    EXPECT_EQ(ran.status, status) << arguments.front();
    EXPECT_THAT(ran.err, "planegate: cannot write to stdout: No space left on device\n");
  };
  unwritten({"list"}, 3);
  unwritten({"--help"}, 3);
  unwritten({"detect", "--od", "3", "--id", "256", "--nt", "1", "--device", "host"}, 3);
}

TEST_F(Cli, DeviceCudaWithoutGpuVerifiesNothing) {
  std::string why_not;
  if (make_cuda_device(why_not) != nullptr) GTEST_SKIP() << "this machine has a GPU";
  expect_refusal({"verify", model(), "--device", "cuda"}, 4, "--device cuda: " + why_not);
  expect_refusal({"demo", "--device", "cuda"}, 4, "--device cuda: " + why_not);
}

TEST_F(Cli, JsonToAnUnwritablePlaceIsRefusedBeforeAnyWork) {
  const std::string nowhere = path("nosuch/r.json");
  expect_refusal({"verify", path("none.gguf"), "--json", nowhere}, 2,
                 "--json " + nowhere + ": No such file or directory");
  const std::string below_file = model() + "/r.json";
  expect_refusal({"verify", path("none.gguf"), "--json", below_file}, 2,
                 "--json " + below_file + ": Not a directory");
}

TEST_F(Cli, JsonIsNotWrittenOverFoldersDevicesAndTheModel) {
  expect_refusal({"verify", model(), "--json", path("tmp")}, 2,
                 "--json " + path("tmp") + ": is a directory");
  fs::create_symlink("/dev/null", path("link"));
  expect_refusal({"verify", model(), "--json", path("link")}, 2,
                 "--json " + path("link") + ": is no regular file");
  const std::string before = content(model());
  expect_refusal({"verify", model(), "--json", path("./model.gguf")}, 2,
                 "--json " + path("./model.gguf") + ": is the model itself");
  EXPECT_EQ(content(model()), before);
}

TEST_F(Cli, VerifySendsEveryTensorThroughAllGates) {
  const CommandRun ran = run({"verify", model(), "--nt", "5", "--device", "host"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out,
              HasSubstr(path("model.gguf") + ": 2 of 3 tensors to verify (f32 1, q6_K 2)"));
  EXPECT_THAT(ran.out, has_row("tensor | shape | plane or consumer | gate | device | verdict"));
  for (const Contract* plane : shipped_catalog().planes()) {
    expect_rows(
        ran.out, plane->format + "/" + plane->name, {"mirror", "readback"},
        [&](auto shape) { return fmt::format("pass: {} bytes", plane->size_bytes(shape)); });
  }
  for (const DeviceProducerSpec& maker : shipped_catalog().device_producers()) {
    expect_rows(ran.out, maker.plane->format + "/" + maker.plane->name, {"made"}, [&](auto shape) {
      return fmt::format("pass: {} bytes", maker.plane->size_bytes(shape));
    });
  }
  for (const ConsumerSpec& consumer : shipped_catalog().consumers()) {
    // Parity counts elements and, at these sizes, addresses.
    expect_rows(ran.out, consumer.name, {"parity"}, [&](auto shape) {
      return consumer.refusal(shape) ? "skipped: .*" : "pass: [0-9]+ values";
    });
    expect_rows(ran.out, consumer.name, {"chain"}, [&](auto shape) {
      return consumer.refusal(shape) ? "skipped: .*" : "pass: [0-9]+ elements";
    });
  }
  EXPECT_THAT(ran.out, Not(HasSubstr("output_norm")));
  EXPECT_TRUE(std::regex_search(
      ran.out,
      std::regex("\ntime: mirror [0-9.]+ s, readback .* parity .*lattice .* s in all\n2 tensors: "
                 "[1-9][0-9]* gates passed, 0 failed, [0-9]+ skipped"
                 "( \\([0-9]+ by consumers that do not take the shape or the device\\))?\n$")));
}

TEST_F(Cli, VerifyTakesAGlob) {
  const CommandRun ran = run({"verify", model(), "--tensor", "*.b.*", "--plane", "raw"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("blk.0.b.weight"), Not(HasSubstr("blk.0.a.weight"))));
}

TEST_F(Cli, VerifyOfAPlaneRunsItsTwoGates) {
  for (const char* name : {"w_exp", "q6_K/w_exp"}) {
    const CommandRun ran = run({"verify", "--plane", name, model(), "--nt", "1"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(rows_with(ran.out, "(mirror|readback|parity|chain) .* (pass|FAIL|skipped)"), 4);
    EXPECT_EQ(rows_with(ran.out, "q6_K/w_exp +(mirror|readback) .*pass: "), 4);
  }
}

TEST_F(Cli, VerifyOfAConsumerRunsItAndThePlanesItReads) {
  const ConsumerSpec& consumer = *shipped_catalog().consumer("raw/expand");
  const CommandRun ran = run({"verify", "--consumer", consumer.name, model(), "--tensor", "*a*",
                              "--nt", "1", "--device", "host"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(rows_with(ran.out, "raw/expand +parity +host +pass"), 1);
  EXPECT_EQ(rows_with(ran.out, "raw/expand +chain +host +pass"), 1);
  EXPECT_EQ(rows_with(ran.out, " (parity|chain) +host "), 2);
  for (const FieldUse& use : consumer.reads) {
    EXPECT_EQ(rows_with(ran.out, "/" + use.plane->name + " +(mirror|readback) .*pass: "), 2);
  }
  EXPECT_EQ(rows_with(ran.out, " (mirror|readback) +host "),
            2 * static_cast<int64_t>(consumer.reads.size()));
}

TEST_F(Cli, InfiniteScaleFailsWithItsPlace) {
  const CommandRun ran = run({"verify", infinite_model(), "--nt", "1", "--device", "host"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("scales FAIL q6_K od=3 id=512 nsb=2 nt=1\n"));
  EXPECT_THAT(ran.out, HasSubstr("the file holds a scale that is not finite (f16 0x7c00) at row 2, "
                                 "super-block 1: no gate computes with it\n"));
  EXPECT_THAT(ran.out, HasSubstr("1 tensor: 0 gates passed, 1 failed, 0 skipped\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("0 of 0")));
}

TEST_F(Cli, HelpAndVersionGoToStdout) {
  const CommandRun help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.err, "");
  for (const char* word : {"verify", "list", "sample", "demo", "Exit status: 0 all verified"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
  EXPECT_THAT(run({"verify", "--help"}).out,
              AllOf(HasSubstr("--tensor"), HasSubstr("--plane"), HasSubstr("--consumer"),
                    HasSubstr("--device"), HasSubstr("--nt"), HasSubstr("--json")));
  const CommandRun version = run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_TRUE(std::regex_match(version.out, std::regex("planegate \\d+\\.\\d+\\.\\d+\n")));
}

TEST_F(Cli, NoProgressLineWithoutATerminal) {
  const CommandRun ran = run({"verify", model(), "--consumer", "raw/expand", "--nt", "1"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, AllOf(Not(HasSubstr("\r")), Not(HasSubstr("\033"))));
}

TEST_F(Cli, SampleIsVerifiable) {
  const CommandRun made = run({"sample", path("s.gguf"), "--seed", "7"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr(path("s.gguf") + ": "));
  const CommandRun verified = run({"verify", path("s.gguf"), "--tensor", "blk.0.attn_v*",
                                   "--consumer", "raw/expand", "--nt", "1"});
  EXPECT_EQ(verified.status, 0) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("1 of 4 tensors to verify (f32 1, q6_K 3)"));
}

TEST_F(Cli, SampleDependsOnItsSeedAlone) {
  for (const char* name : {"a", "b"}) run({"sample", path(name), "--seed", "7"});
  run({"sample", path("c"), "--seed", "8"});
  EXPECT_GT(content(path("a")).size(), 1000u);
  EXPECT_TRUE(content(path("a")) == content(path("b")));
  EXPECT_FALSE(content(path("a")) == content(path("c")));
}

TEST_F(Cli, SampleRefusesWhatItCannotWrite) {
  expect_refusal({"sample", path("s.gguf"), "--like", "nosuch"}, 2,
                 "--like nosuch: no such sample; nearest: mini, qwen2.5-7b");
  expect_refusal({"sample", path("no/s.gguf")}, 2,
                 path("no/s.gguf") + ": No such file or directory");
  expect_refusal({"sample", path("tmp")}, 2, "OUT " + path("tmp") + ": is a directory");
  fs::create_symlink("/dev/null", path("link"));
  expect_refusal({"sample", path("link")}, 2, "OUT " + path("link") + ": is no regular file");
  EXPECT_THAT(files(), ElementsAre("link"));
}

TEST_F(Cli, VerifyWithoutModelMakesASampleAndRemovesIt) {
  const CommandRun ran = run({"verify", "--plane", "raw", "--nt", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("no model given: a sample"),
                             HasSubstr("sample: 3 of 4 tensors to verify")));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Cli, ListShowsWhatIsShippedAndNothingKnownBad) {
  const CommandRun ran = run({"list"});
  EXPECT_EQ(ran.status, 0);
  for (const Contract* plane : shipped_catalog().planes()) {
    EXPECT_THAT(ran.out, HasSubstr("\n" + plane->format + "/" + plane->name + " "));
  }
  for (const ConsumerSpec& consumer : shipped_catalog().consumers()) {
    EXPECT_THAT(ran.out, HasSubstr("\n" + consumer.name + " "));
  }
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\nhost "), HasSubstr("\ncuda ")));
  ASSERT_THAT(known_bad(), Not(IsEmpty()));
  for (const std::string& bad : known_bad()) EXPECT_THAT(ran.out, Not(HasSubstr(bad)));
}

TEST_F(Cli, DemoShowsEachFaultTurningItsOwnGateRed) {
  const CommandRun ran = run({"demo", "--device", "host"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  for (const char* row : {"planted fault | mirror | readback | parity | chain | as expected",
                          "none | pass | pass | pass | pass | yes",
                          "one bit in the producer's output | FAIL | pass | pass | skipped | yes",
                          "one bit in the device buffer | pass | FAIL | pass | skipped | yes",
                          "padded strides in the consumer | pass | pass | FAIL | skipped | yes"}) {
    EXPECT_THAT(ran.out, has_row(row));
  }
  EXPECT_THAT(ran.out,
              ContainsRegex("diagnosis: [0-9]+ variants fail with one bit-identical difference"));
  EXPECT_THAT(ran.out, HasSubstr("repeat: planegate demo\n"));
}

}  // namespace
}  // namespace planegate::test
