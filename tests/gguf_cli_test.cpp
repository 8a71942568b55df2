#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "command_run.h"
#include "gguf_bytes.h"
#include "gguf_cases.h"

/// Model files through the built command: exit status 3 and one line on stderr where they are
/// malformed, bounded time and memory, all parts of a split.
namespace planegate::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <class Case>
std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

template <class Case>
class CommandCase : public CommandTest, public testing::WithParamInterface<Case> {
 protected:
  CommandRun verify_case() const {
    write_text(path("model.gguf"), this->GetParam().image);
    return run({"verify", path("model.gguf"), "--device", "host", "--plane", "w_exp"});
  }
};

class GgufCommand : public CommandCase<MalformedCase> {};

TEST_P(GgufCommand, EndsWithStatus3) {
  const CommandRun ran = verify_case();
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.err, "planegate: " + path("model.gguf") + ": " + GetParam().message + "\n");
  EXPECT_EQ(ran.out, "");
}
INSTANTIATE_TEST_SUITE_P(Kind, GgufCommand, testing::ValuesIn(malformed_cases()),
                         name_of<MalformedCase>);

class GgufCommandOdd : public CommandCase<ValidCase> {};

TEST_P(GgufCommandOdd, IsRead) {
  const CommandRun ran = verify_case();
  EXPECT_NE(ran.status, 3);
  EXPECT_NE(ran.status, -1);
  EXPECT_THAT(ran.out, HasSubstr(" tensors to verify"));
  EXPECT_THAT(ran.err, Not(HasSubstr(": byte ")));
}
INSTANTIATE_TEST_SUITE_P(Kind, GgufCommandOdd, testing::ValuesIn(valid_cases()),
                         name_of<ValidCase>);

#if defined(__SANITIZE_ADDRESS__)
constexpr double kMostSeconds = 60;
constexpr long kMostKilobytes = 4'000'000;
#else
constexpr double kMostSeconds = 10;
constexpr long kMostKilobytes = 400'000;
#endif

class GgufCommandBounds : public CommandTest {
 protected:
  /// Writes piece(0) to piece(n - 1) after `head`. Not from memory: the peak of this process would
  /// count as that of the command.
  template <class Piece>
  void write_pieces(const std::string& head, uint64_t n, const Piece& piece,
                    uint64_t zeros = 0) const {
    std::ofstream file(path("model.gguf"), std::ios::binary);
    file << head;
    for (uint64_t i = 0; i < n; ++i) file << piece(i);
    file.close();
    fs::resize_file(path("model.gguf"), fs::file_size(path("model.gguf")) + zeros);
  }

  CommandRun verify_within_bounds() const {
    const CommandRun ran = run({"verify", path("model.gguf"), "--device", "host"});
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    EXPECT_LT(seconds(used.ru_utime) + seconds(used.ru_stime), kMostSeconds);
    EXPECT_LT(used.ru_maxrss, kMostKilobytes);
    return ran;
  }
};

constexpr uint64_t kMillion = 1'000'000;

std::string head(uint64_t tensors, uint64_t entries) {
  return "GGUF" + bytes_of(uint32_t{3}) + bytes_of(tensors) + bytes_of(entries);
}

std::string text_bytes(const std::string& text) {
  return bytes_of(uint64_t{text.size()}) + text;
}

// Far from sorted, and no two equal.
std::string scattered(uint64_t i) {
  return "k" + std::to_string(i * 7'919 % kMillion);
}

TEST_F(GgufCommandBounds, MillionKeys) {
  write_pieces(head(0, kMillion), kMillion, [](uint64_t i) {
    return text_bytes(scattered(i)) + bytes_of(GgufType::kU8) + '\1';
  });
  const CommandRun ran = verify_within_bounds();
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.out, HasSubstr("0 of 0 tensors to verify"));
}

TEST_F(GgufCommandBounds, MillionKeysThatRepeatAtTheEnd) {
  write_pieces(head(0, kMillion), kMillion, [](uint64_t i) {
    return text_bytes(scattered(i == kMillion - 1 ? 0 : i)) + bytes_of(GgufType::kU8) + '\1';
  });
  const CommandRun ran = verify_within_bounds();
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("key=\"k0\" (entry 999999): only once in a file"));
}

TEST_F(GgufCommandBounds, MillionTensors) {
  write_pieces(
      head(kMillion, 0), kMillion,
      [](uint64_t i) {
        return text_bytes("blk." + scattered(i) + ".weight") + bytes_of(uint32_t{1}) +
               bytes_of(uint64_t{1}) + bytes_of(uint32_t{24}) + bytes_of(i * 32);
      },
      32 * kMillion);
  const CommandRun ran = verify_within_bounds();
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.out, HasSubstr("0 of 1000000 tensors to verify (i8 1000000)"));
}

TEST_F(GgufCommandBounds, MillionOverlappingTensors) {
  write_pieces(
      head(kMillion, 0), kMillion,
      [](uint64_t i) {
        return text_bytes(scattered(i)) + bytes_of(uint32_t{1}) + bytes_of(uint64_t{64}) +
               bytes_of(uint32_t{24}) + bytes_of((kMillion - i) * 32);
      },
      33 * kMillion);
  const CommandRun ran = verify_within_bounds();
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr(": outside tensor "));
}

TEST_F(GgufCommandBounds, ArraysOfAMillionArrays) {
  write_pieces(head(0, 1) + text_bytes("k") + bytes_of(GgufType::kArray) +
                   array_head(GgufType::kArray, kMillion),
               kMillion, [](uint64_t) { return array_head(GgufType::kString, 0); });
  EXPECT_EQ(verify_within_bounds().status, 4);
}

TEST_F(GgufCommandBounds, SparseFileOfATerabyteWithoutContent) {
  write_pieces(
      head(uint64_t{1} << 34, uint64_t{1} << 34), 0, [](uint64_t) { return ""; },
      uint64_t{1} << 40);
  const CommandRun ran = verify_within_bounds();
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("key length=0 (entry 0): 1 to 65535"));
}

TEST_F(GgufCommandBounds, SparseTensorOfATerabyteIsNotRead) {
  write_pieces(
      head(1, 0) + text_bytes("x") + bytes_of(uint32_t{1}) + bytes_of(uint64_t{1} << 40) +
          bytes_of(uint32_t{24}) + bytes_of(uint64_t{0}),
      0, [](uint64_t) { return ""; }, (uint64_t{1} << 40) + 64);
  const CommandRun ran = verify_within_bounds();
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.out, HasSubstr("0 of 1 tensors to verify (i8 1)"));
}

class GgufCommandSplit : public CommandTest {
 protected:
  GgufCommandSplit() {
    for (int number = 1; number <= 3; ++number) {
      fs::copy_file(PLANEGATE_TEST_DATA "/" + name(number), part(number));
    }
  }

  static std::string name(int number) {
    return "split-0000" + std::to_string(number) + "-of-00003.gguf";
  }
  std::string part(int number) const { return path(name(number)); }

  CommandRun verify(int number, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"verify", part(number), "--device", "host", "--nt", "2"});
    return run(more);
  }
};

TEST_F(GgufCommandSplit, AnyPartVerifiesTheTensorsOfAll) {
  for (int number = 1; number <= 3; ++number) {
    const CommandRun ran = verify(number, {"--plane", "w_exp"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(part(number) +
                                   " (all 3 parts): 3 of 5 tensors to verify (f32 2, q6_K 3)"));
    EXPECT_THAT(ran.out, HasSubstr("3 tensors: 9 gates passed, 0 failed, 0 skipped"));
  }
}

TEST_F(GgufCommandSplit, GlobReachesEveryPart) {
  const CommandRun ran = verify(1, {"--plane", "w_exp", "--tensor", "output*"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 of 5 tensors to verify"));
}

TEST_F(GgufCommandSplit, MissingPartEndsWithStatus3AndItsName) {
  fs::remove(part(2));
  const CommandRun ran = verify(1);
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.err, "planegate: " + part(2) +
                         ": byte 0: file=No such file or directory (part 2 of 3): a readable "
                         "regular file with content\n");
}

TEST_F(GgufCommandSplit, DoubledPartEndsWithStatus3AndItsName) {
  fs::copy_file(part(2), part(3), fs::copy_options::overwrite_existing);
  const CommandRun ran = verify(1);
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr(part(3) + ": byte "));
  EXPECT_THAT(ran.err, HasSubstr("split.no=1: 2, as the file's name says"));
}

TEST_F(GgufCommandSplit, ReportsRepeatWithThePartOfTheTensor) {
  const GgufFile file = GgufFile::open(part(3));
  const auto d = static_cast<size_t>(file.data_offset() + file.tensors()[0].offset) + 208;
  write_text(part(3), patched(content(part(3)), d, uint16_t{0x7C00}));
  const CommandRun ran = verify(1, {"--plane", "w_exp", "--json", path("r.json")});
  EXPECT_EQ(ran.status, 1);
  const std::string json = content(path("r.json"));
  EXPECT_THAT(json, HasSubstr("\"repeat\": \"planegate verify '" + part(1) +
                              "' --tensor 'blk.0.ffn_down.weight'"));
  EXPECT_THAT(json, HasSubstr("\"repeat\": \"planegate verify '" + part(2) +
                              "' --tensor 'blk.1.ffn_down.weight'"));
}

TEST_F(GgufCommandSplit, JsonReplacesNoPart) {
  const std::string before = content(part(3));
  const CommandRun ran = verify(1, {"--json", part(3)});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--json " + part(3) + ": is the model itself"));
  EXPECT_EQ(content(part(3)), before);
}

}  // namespace
}  // namespace planegate::test
