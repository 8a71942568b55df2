#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "oracle/half.h"
#include "oracle/parallel.h"

namespace planegate::oracle {
namespace {

TEST(F16, ReadsEachKindOfPatternByTheDefinition) {
  EXPECT_EQ(f16_to_f64(0x3c00), 1.0);
  EXPECT_EQ(f16_to_f64(0xc000), -2.0);
  EXPECT_EQ(f16_to_f64(0x3555), 0.333251953125);  // 1365/1024 * 2^-2
  EXPECT_EQ(f16_to_f64(0x7bff), 65504.0);
  EXPECT_EQ(f16_to_f64(0x0400), 0x1p-14);
  EXPECT_EQ(f16_to_f64(0x03ff), 1023 * 0x1p-24);
  EXPECT_EQ(f16_to_f64(0x0001), 0x1p-24);
  EXPECT_TRUE(std::signbit(f16_to_f64(0x8000)));
  EXPECT_EQ(f16_to_f64(0xfc00), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(f16_to_f64(0x7c01)));
}

TEST(F16, CallsInfinitiesAndNanAloneNonFinite) {
  for (const uint16_t bits : std::vector<uint16_t>{0x7c00, 0xfc00, 0x7c01, 0xffff})
    EXPECT_FALSE(f16_is_finite(bits));
  for (const uint16_t bits : std::vector<uint16_t>{0x0000, 0x7bff, 0xfbff, 0x0001})
    EXPECT_TRUE(f16_is_finite(bits));
}

TEST(F16, ReturnsEveryFinitePatternUnchanged) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto f16 = static_cast<uint16_t>(bits);
    if (!f16_is_finite(f16)) continue;
    ASSERT_EQ(f64_to_f16(f16_to_f64(f16)), f16);
    ASSERT_EQ(f32_to_f16(f16_to_f32(f16)), f16);
  }
}

TEST(F16, RoundsEveryMidpointToEvenAndItsNeighboursToNearest) {
  for (unsigned low = 0; low < 0x7bff; ++low) {
    const auto below = static_cast<uint16_t>(low);
    const auto above = static_cast<uint16_t>(low + 1);
    const double midpoint = (f16_to_f64(below) + f16_to_f64(above)) / 2;
    ASSERT_EQ(f64_to_f16(midpoint), (low & 1) == 0 ? below : above);
    ASSERT_EQ(f64_to_f16(std::nextafter(midpoint, 0)), below);
    ASSERT_EQ(f64_to_f16(std::nextafter(midpoint, HUGE_VAL)), above);
    ASSERT_EQ(f64_to_f16(-std::nextafter(midpoint, HUGE_VAL)), above | 0x8000);
  }
}

TEST(F16, OverflowsFrom65520On) {
  EXPECT_EQ(f64_to_f16(std::nextafter(65520.0, 0)), 0x7bff);
  EXPECT_EQ(f64_to_f16(65520.0), 0x7c00);
  EXPECT_EQ(f64_to_f16(-1e300), 0xfc00);
  EXPECT_EQ(f64_to_f16(HUGE_VAL), 0x7c00);
}

TEST(F16, KeepsNanANanAndTinyValuesASignedZero) {
  EXPECT_EQ(f64_to_f16(std::nan("")), 0x7e00);
  EXPECT_EQ(f64_to_f16(-0x1p-1074), 0x8000);
  EXPECT_EQ(f64_to_f16(0x1p-26), 0x0000);
}

TEST(ForRanges, VisitsEachItemOnceWhateverTheGrain) {
  for (const int64_t grain : {1, 3, 10, 11, 100}) {
    std::vector<int> visits(10);
    for_ranges(10, grain, [&](int64_t first, int64_t end) {
      for (; first < end; ++first) ++visits[static_cast<size_t>(first)];
    });
    EXPECT_EQ(visits, std::vector<int>(10, 1)) << grain;
  }
}

TEST(ForRanges, ThrowsWhatTheLowestRangeThrew) {
  int64_t thrown = -1;
  try {
    for_ranges(64, 1, [](int64_t first, int64_t) {
      if (first == 5) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (first >= 5) throw first;
    });
  } catch (int64_t first) {
    thrown = first;
  }
  EXPECT_EQ(thrown, 5);
}

}  // namespace
}  // namespace planegate::oracle
