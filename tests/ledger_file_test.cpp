#include "gates/perf/ledger_file.h"

#include <csignal>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <planegate/core/errors.h>

#include "tests/command_run.h"
#include "tests/ledger_samples.h"

/// The file: writers at once, crashes, full disks.
namespace planegate {
namespace {

namespace fs = std::filesystem;
using perf::append_to_ledger;
using perf::read_ledger;
using test::content;
using test::sample_entry;
using test::write_text;
using testing::HasSubstr;

/// The status of `body` in a process of its own, where no exception leaves.
pid_t forked(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 99;
  try {
    status = body();
  } catch (const std::exception&) {
  }
  ::_exit(status);
}

int status_of(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Makes the kernel write a part and then refuse, as a full disk does.
bool limit_files_to(size_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {bytes, bytes};
  return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

class LedgerFile : public test::CommandTest {
 protected:
  std::string file() const { return path("ledger.jsonl"); }
  std::string line(const std::string& mechanism) const {
    return perf::ledger_line(sample_entry(mechanism));
  }
  std::string read_error() const {
    try {
      static_cast<void>(read_ledger(file()));
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }
  size_t entries() const { return read_ledger(file()).entries.size(); }
};

TEST_F(LedgerFile, TwoProcessesThatAppendAtOnceLoseNothing) {
  constexpr int kLines = 200;
  const auto writer = [&](const std::string& name) {
    return forked([&, name] {
      for (int i = 0; i < kLines; ++i) {
        const std::string padding(static_cast<size_t>(i * 37 % 9000), 'x');
        if (append_to_ledger(file(), sample_entry(fmt::format("{} {} {}", name, i, padding)))) {
          return 1;
        }
      }
      return 0;
    });
  };
  const pid_t first = writer("first"), second = writer("second");
  EXPECT_EQ(status_of(first), 0);
  EXPECT_EQ(status_of(second), 0);
  std::map<std::string, int> next;
  for (const auto& entry : read_ledger(file()).entries) {
    std::istringstream words(entry.mechanism);
    std::string name;
    int number = -1;
    words >> name >> number;
    EXPECT_EQ(number, next[name]++) << "out of order or lost";
  }
  EXPECT_EQ(next["first"], kLines);
  EXPECT_EQ(next["second"], kLines);
}

TEST_F(LedgerFile, IsWrittenUnderItsLockOnly) {
  append_to_ledger(file(), sample_entry("one"));
  const int fd = ::open(file().c_str(), O_RDONLY);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const pid_t child = forked([&] {
    append_to_ledger(file(), sample_entry("two"));
    return 42;
  });
  ::usleep(200'000);
  EXPECT_EQ(content(file()), line("one"));
  ::flock(fd, LOCK_UN);  // close() would not do: the child holds the description as well
  ::close(fd);
  EXPECT_EQ(status_of(child), 42);
  EXPECT_EQ(content(file()), line("one") + line("two"));
}

/// What a kill or a power cut leaves, at each length that the last line can have.
TEST_F(LedgerFile, KeepsAllBeforeALastLineCutAnywhereAndMovesThat) {
  const std::string whole = line("one") + line("two"), last = line("three");
  for (size_t cut = 1; cut < last.size() - 1; ++cut) {
    write_text(file(), whole + last.substr(0, cut));
    const auto read = read_ledger(file());
    ASSERT_EQ(read.entries.size(), 2u) << cut;
    ASSERT_TRUE(read.damaged) << cut;
    EXPECT_EQ(read.damaged->line, 3);
    EXPECT_EQ(read.damaged->kept_as, file() + ".damaged-1");
    EXPECT_EQ(content(read.damaged->kept_as), last.substr(0, cut));
    EXPECT_EQ(content(file()), whole);
    EXPECT_FALSE(read_ledger(file()).damaged) << "once";
    fs::remove(read.damaged->kept_as);
  }
}

TEST_F(LedgerFile, AppendsBehindADamagedLastLineAndSaysSo) {
  for (int n = 1; n <= 2; ++n) {
    write_text(file(), line("one") + "{\"schema\"\n");
    const auto damaged = append_to_ledger(file(), sample_entry("two"));
    ASSERT_TRUE(damaged);
    EXPECT_EQ(damaged->kept_as, fmt::format("{}.damaged-{}", file(), n)) << "none is overwritten";
    EXPECT_EQ(content(damaged->kept_as), "{\"schema\"\n");
    EXPECT_EQ(content(file()), line("one") + line("two"));
  }
}

std::string cut_newline(std::string line) {
  line.pop_back();
  return line;
}

TEST_F(LedgerFile, KeepsALastLineThatLacksOnlyItsNewlineAndAddsThat) {
  for (const std::string& before : {std::string(), line("one")}) {
    const size_t size = before.empty() ? 1 : 2;
    write_text(file(), before + cut_newline(line("two")));
    const auto read = read_ledger(file());
    EXPECT_EQ(read.entries.size(), size);
    EXPECT_FALSE(read.damaged);
    EXPECT_EQ(content(file()), before + line("two"));
    write_text(file(), before + cut_newline(line("two")));
    EXPECT_FALSE(append_to_ledger(file(), sample_entry("three")));
    EXPECT_EQ(content(file()), before + line("two") + line("three"));
    EXPECT_EQ(entries(), size + 1);
  }
  EXPECT_THAT(files(), testing::ElementsAre("ledger.jsonl"));
}

TEST_F(LedgerFile, ReadsALineWithoutNewlineWhereItCannotBeWritten) {
  write_text(file(), cut_newline(line("one")));
  const int status = status_of(forked([&] {
    if (!limit_files_to(0)) return 1;
    const auto read = read_ledger(file());
    return read.entries.size() == 1 && !read.damaged ? 42 : 2;
  }));
  EXPECT_EQ(status, 42);
  EXPECT_EQ(content(file()), cut_newline(line("one")));
}

TEST_F(LedgerFile, MovesNothingWhereAnotherLineIsDamagedToo) {
  const std::string text = line("one") + "{\"sch\n" + line("three") + "{\"sch";
  write_text(file(), text);
  EXPECT_THAT(read_error(), HasSubstr(file() + ":2: no JSON"));
  EXPECT_THROW(append_to_ledger(file(), sample_entry()), perf::LedgerError);
  EXPECT_EQ(content(file()), text);
  EXPECT_THAT(files(), testing::ElementsAre("ledger.jsonl"));
}

TEST_F(LedgerFile, DamagedBeforeItsLastLineIsAnErrorThatNamesTheLineAndMovesNothing) {
  const std::string text = line("one") + "{\"sch\n" + line("three");
  write_text(file(), text);
  EXPECT_EQ(read_error(), file() + ":2: no JSON, and not the last line: mend it by hand");
  EXPECT_EQ(content(file()), text);
}

TEST_F(LedgerFile, OfAnotherSchemaIsAnErrorWithLineAndRequirement) {
  std::string other = line("two");
  other.replace(other.find("ledger/1"), 8, "ledger/9");
  write_text(file(), line("one") + other);
  EXPECT_EQ(read_error(), file() + ":2: schema: planegate.ledger/9, must be planegate.ledger/1");
  EXPECT_THROW(append_to_ledger(file(), sample_entry()), perf::LedgerError);
  EXPECT_EQ(content(file()), line("one") + other);
}

TEST_F(LedgerFile, ThatNeverWasALedgerIsNotTouched) {
  const std::string one = line("one");
  for (const std::string& text :
       {std::string("hello\n"), std::string("hello"), std::string("\nhello\nyou"),
        std::string("{\"a\": 1}\n"), std::string("a\nb"), std::string("{\n  \"a\": 1\n}\n"),
        std::string("{"), std::string("{\"schema\":\n{\"schema"), one.substr(0, 10),
        one.substr(0, one.size() - 2)}) {
    write_text(file(), text);
    EXPECT_THROW(append_to_ledger(file(), sample_entry()), perf::LedgerError) << text;
    EXPECT_THAT(read_error(), HasSubstr(file() + ":1: ")) << text;
    EXPECT_EQ(content(file()), text);
  }
  EXPECT_THAT(files(), testing::ElementsAre("ledger.jsonl"));
}

TEST_F(LedgerFile, RefusesABrokenEntryBeforeItMakesAFile) {
  auto entry = sample_entry();
  entry.token = perf::kUngated;
  EXPECT_THROW(append_to_ledger(file(), entry), ContractError);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(LedgerFile, TakesBackALineThatFindsNoSpace) {
  append_to_ledger(file(), sample_entry("one"));
  const std::string before = content(file());
  const int status = status_of(forked([&] {
    if (!limit_files_to(before.size() + 20)) return 1;
    try {
      append_to_ledger(file(), sample_entry("two"));
    } catch (const fs::filesystem_error& error) {
      return error.code() && error.path1() == file() ? 42 : 2;
    }
    return 3;
  }));
  EXPECT_EQ(status, 42);
  EXPECT_EQ(content(file()), before);
}

TEST_F(LedgerFile, ThatIsADeviceAFolderOrAbsentIsAClearError) {
  for (const std::string& bad : {std::string("/dev/full"), path("tmp"), path("no/ledger.jsonl")}) {
    EXPECT_THROW(append_to_ledger(bad, sample_entry()), fs::filesystem_error) << bad;
    EXPECT_THROW(static_cast<void>(read_ledger(bad)), fs::filesystem_error) << bad;
  }
  EXPECT_THAT(read_error(), HasSubstr("No such file"));
}

TEST_F(LedgerFile, ThatCannotBeWrittenIsReadAndItsDamageReported) {
  const std::string text = line("one") + "{\"sch";
  write_text(file(), text);
  const int status = status_of(forked([&] {
    if (!limit_files_to(0)) return 1;
    const auto read = read_ledger(file());
    return read.entries.size() == 1 && read.damaged && read.damaged->line == 2 &&
                   read.damaged->kept_as.empty()
               ? 42
               : 2;
  }));
  EXPECT_EQ(status, 42);
  EXPECT_EQ(content(file()), text);
  EXPECT_THAT(files(), testing::ElementsAre("ledger.jsonl")) << "no empty file is left behind";
}

}  // namespace
}  // namespace planegate
