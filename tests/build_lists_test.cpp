#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>

/// A test file that no program is built from tests nothing.
namespace planegate {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BuildLists, HoldEveryTestFile) {
  for (const std::string folder : {"tests", "fuzz"}) {
    const fs::path root = fs::path(PLANEGATE_SOURCE_DIR) / folder;
    const std::string list = content(root / "CMakeLists.txt");
    ASSERT_NE(list, "");
    for (const auto& entry : fs::directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".cpp")) continue;
      EXPECT_THAT(list, testing::HasSubstr(name));
    }
  }
}

}  // namespace
}  // namespace planegate
