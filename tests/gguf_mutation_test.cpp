#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gguf_bytes.h"
#include "gguf_touch.h"

namespace planegate::test {
namespace {

// Opens many variants of a file, in memory: a disk would dominate.
class Tally {
 public:
  Tally() : fd_(::memfd_create("model", MFD_CLOEXEC)) {}
  ~Tally() { ::close(fd_); }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void open(const std::string& image) {
    ASSERT_EQ(::ftruncate(fd_, std::ssize(image)), 0);
    ASSERT_EQ(::pwrite(fd_, image.data(), image.size(), 0), std::ssize(image));
    try {
      const GgufFile model = GgufFile::open("/proc/self/fd/" + std::to_string(fd_));
      sum_ += GgufTouch(model, std::ssize(image)).everything();
      ++accepted_;
    } catch (const GgufError&) {
      ++refused_;
    }
  }

  int accepted() const { return accepted_; }
  int refused() const { return refused_; }

 private:
  int fd_;
  int accepted_ = 0;
  int refused_ = 0;
  uint64_t sum_ = 0;
};

TEST(GgufMutation, EveryPrefixOfASmallFileIsRefused) {
  const std::string image = small_image();
  ASSERT_EQ(image.size(), at::kEnd);
  Tally tally;
  for (size_t size = 0; size < at::kYEnd; ++size) tally.open(image.substr(0, size));
  EXPECT_EQ(tally.accepted(), 0);
  EXPECT_EQ(tally.refused(), static_cast<int>(at::kYEnd));
}

TEST(GgufMutation, EveryPrefixOfAnOutsideFileIsRefused) {
  const TempDir dir;
  const std::string image = read_file(PLANEGATE_TEST_DATA "/mixed.gguf");
  const GgufFile whole = open_image(dir, image);
  const auto last = whole.bytes(whole.tensors().back());
  const auto end =
      static_cast<size_t>(whole.data_offset() + whole.tensors().back().offset + std::ssize(last));
  Tally tally;
  for (size_t size = 0; size < end; ++size) tally.open(image.substr(0, size));
  EXPECT_EQ(tally.accepted(), 0);
  EXPECT_EQ(tally.refused(), static_cast<int>(end));
  tally.open(image.substr(0, end));
  EXPECT_EQ(tally.accepted(), 1);
}

TEST(GgufMutation, EverySingleByteOfTheHeadIsReadOrRefused) {
  const std::string image = small_image();
  Tally tally;
  for (size_t i = 0; i < at::kDirectoryEnd; ++i) {
    for (int delta = 1; delta < 256; ++delta) {
      std::string other = image;
      other[i] = static_cast<char>(other[i] + delta);
      tally.open(other);
    }
  }
  EXPECT_EQ(tally.accepted() + tally.refused(), 255 * static_cast<int>(at::kDirectoryEnd));
  EXPECT_GT(tally.accepted(), 1000);
  EXPECT_GT(tally.refused(), 20'000);
}

TEST(GgufMutation, ExtremeIntegersAnywhereAreReadOrRefused) {
  const TempDir dir;
  const std::string image = read_file(PLANEGATE_TEST_DATA "/mixed.gguf");
  const size_t head = static_cast<size_t>(open_image(dir, image).data_offset());
  Tally tally;
  for (size_t i = 0; i + 8 <= head; ++i) {
    for (const int shift : {0, 1, 5, 8, 31, 32, 33, 62, 63}) {
      tally.open(patched(image, i, uint64_t{1} << shift));
      tally.open(patched(image, i, (uint64_t{1} << shift) - 1));
    }
    tally.open(patched(image, i, ~uint64_t{0}));
  }
  EXPECT_EQ(tally.accepted() + tally.refused(), 19 * static_cast<int>(head - 7));
  EXPECT_GT(tally.accepted(), 100);
  EXPECT_GT(tally.refused(), 10'000);
}

}  // namespace
}  // namespace planegate::test
