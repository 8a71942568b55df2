#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/gguf_bytes.h"
#include "tests/gguf_cases.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// The fuzzer's entry point over its corpus: NAME.gguf are the seeds, made from the cases of the
/// reader's tests (PLANEGATE_WRITE_GOLDEN=1 writes them anew), found_* what libFuzzer found.
namespace planegate::test {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = PLANEGATE_TEST_DATA "/../../fuzz/corpus/gguf";
constexpr size_t kMostSeedBytes = 4096;
constexpr uintmax_t kMostCorpusBytes = 200'000;

std::map<std::string, std::string> seeds() {
  std::map<std::string, std::string> all;
  const auto add = [&](const std::string& name, const std::string& image) {
    if (image.size() <= kMostSeedBytes) all[name + ".gguf"] = image;
  };
  for (const MalformedCase& some : malformed_cases()) add(some.name, some.image);
  for (const ValidCase& some : valid_cases()) add(some.name, some.image);
  return all;
}

std::vector<fs::path> corpus() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kCorpus)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(GgufCorpus, HoldsEveryCaseAsASeed) {
  for (const auto& [name, image] : seeds()) {
    if (std::getenv("PLANEGATE_WRITE_GOLDEN") != nullptr) write_file(kCorpus / name, image);
    EXPECT_EQ(read_file(kCorpus / name), image) << name;
  }
}

TEST(GgufCorpus, HoldsNothingElseAndIsSmall) {
  const auto known = seeds();
  uintmax_t bytes = 0;
  for (const fs::path& file : corpus()) {
    const std::string name = file.filename();
    EXPECT_TRUE(name.starts_with("found_") || known.count(name) == 1) << name;
    bytes += fs::file_size(file);
  }
  EXPECT_LT(bytes, kMostCorpusBytes);
}

TEST(GgufCorpus, EveryFileIsReadOrRefused) {
  size_t read = 0;
  for (const fs::path& file : corpus()) {
    SCOPED_TRACE(file);
    const std::string content = read_file(file);
    // Of exactly its size, so that a sanitizer sees the first byte beyond.
    const std::vector<uint8_t> data(content.begin(), content.end());
    EXPECT_EQ(LLVMFuzzerTestOneInput(data.data(), data.size()), 0);
    ++read;
  }
  EXPECT_GE(read, seeds().size());
}

}  // namespace
}  // namespace planegate::test
