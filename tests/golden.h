#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace planegate::test {

/// The text equals tests/golden/`name`, byte by byte. PLANEGATE_WRITE_GOLDEN=1 writes it anew.
inline void expect_golden(const std::string& actual, const std::string& name) {
  const std::string path = std::string(PLANEGATE_GOLDEN) + "/" + name;
  if (std::getenv("PLANEGATE_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "no " << path << "; the actual text:\n" << actual;
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(actual, golden.str()) << path << "; the actual text:\n" << actual;
}

}  // namespace planegate::test
