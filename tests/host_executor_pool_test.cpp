#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <planegate/simt/block_pool.h>

namespace planegate::simt {
namespace {

TEST(BlockPool, CallsEveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 3, 100}) {
    for (const int threads : {1, 2, 5}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      for_each_block(count, threads, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
      for (const auto& n : calls) EXPECT_EQ(n, 1) << count << " calls, " << threads << " threads";
    }
  }
}

TEST(BlockPool, LetsAHelperWorkBesideTheCaller) {
  std::atomic<int> present{0};
  for_each_block(2, 2, [&](int64_t) {
    ++present;
    while (present < 2) std::this_thread::yield();
  });
  EXPECT_EQ(present, 2);
}

TEST(BlockPool, ThrowsTheErrorOfTheSmallestIndexWhicheverFailsFirst) {
  for (int round = 0; round < 20; ++round) {
    std::string error;
    std::atomic<bool> later_failed{false};
    try {
      for_each_block(8, 2, [&](int64_t i) {
        if (i == 3) {
          while (!later_failed) std::this_thread::yield();
          throw std::runtime_error("3");
        }
        if (i == 4) {
          later_failed = true;
          throw std::runtime_error("4");
        }
        if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    } catch (const std::runtime_error& thrown) {
      error = thrown.what();
    }
    EXPECT_EQ(error, "3");
  }
}

TEST(BlockPool, BeginsNothingBehindAKnownFailure) {
  std::atomic<int64_t> largest{0};
  EXPECT_THROW(for_each_block(1000, 1,
                              [&](int64_t i) {
                                largest = i;
                                if (i == 5) throw std::runtime_error("5");
                              }),
               std::runtime_error);
  EXPECT_EQ(largest, 5);
}

TEST(BlockPool, ServesACallFromInsideAnother) {
  std::atomic<int> calls{0};
  for_each_block(4, 2, [&](int64_t) { for_each_block(4, 2, [&](int64_t) { ++calls; }); });
  EXPECT_EQ(calls, 16);
}

}  // namespace
}  // namespace planegate::simt
