#include "cli/misread.h"

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>

#include "catalog/catalog.h"
#include "cli/misread_window.h"

namespace planegate::cli {
namespace {

using Value = Misread::Value;

int64_t lines_of(const Contract& plane, const Shape& shape) {
  return plane.role == Role::kWeights ? shape.od() : shape.nt();
}

/// Calls visit(line, k) for every value of `field`, lines first.
template <class Visit>
void for_each_value(const Contract& plane, const Field& field, const Shape& shape, Visit visit) {
  for (int64_t line = 0; line < lines_of(plane, shape); ++line) {
    for (int64_t k = 0; k < shape.id(); k += elems_per_value(field)) visit(Value{line, k});
  }
}

using Address = std::function<int64_t(const Shape&, int64_t line, int64_t k)>;

/// Law: the wrong address of every value is `address`, written out by hand.
void test_wrong_addresses(const Contract& plane, const Contract& beside, const Address& address) {
  for (const Shape& shape : {Shape(5, 768, 70), Shape(4, 256, 130), Shape(1, 512, 1)}) {
    SCOPED_TRACE(plane.name + " beside " + beside.name + " " + shape.text());
    const Misread misread(plane, beside, shape);
    for_each_value(plane, misread.field(), shape, [&](const Value& at) {
      ASSERT_EQ(misread.wrong_bytes(at), address(shape, at.line, at.k))
          << "line " << at.line << " k " << at.k;
    });
  }
}

TEST(Misread, WExpOnThePagesOfPaddedIsTheIncidentsAddress) {
  test_wrong_addresses(describe<q6_k::WExp>(), describe<q6_k::Padded>(),
                       [](const Shape& s, int64_t j, int64_t k) {
                         return j * (s.nsb() * 224) + k / 256 * 224 + k % 256;
                       });
}

TEST(Misread, RawOnThePagesOfPaddedKeepsItsBlocksInside) {
  test_wrong_addresses(describe<q6_k::Raw>(), describe<q6_k::Padded>(),
                       [](const Shape& s, int64_t j, int64_t k) {
                         return (j * s.nsb() + k / 256) * 224 + k % 256 / 128 * 64 + k % 64;
                       });
}

TEST(Misread, PagesOfAPlaneWithOtherDigitsStartWhereItKeepsTheirFirstValue) {
  test_wrong_addresses(describe<q6_k::WDsc>(), describe<q6_k::WExp>(),
                       [](const Shape& s, int64_t j, int64_t k) {
                         return j * s.id() + k / 32 * 32 + k % 32 / 16 * 4;
                       });
  test_wrong_addresses(describe<q6_k::WExp>(), describe<q6_k::WDsc>(),
                       [](const Shape& s, int64_t j, int64_t k) {
                         return j * 8 + k / 256 * 64 * ((s.od() + 1) / 2 * 2) + k % 256;
                       });
}

TEST(Misread, TilesOnThePagesOfTokensKeepTheirSwizzleInside) {
  test_wrong_addresses(describe<q8_act::Qa8>(), describe<q8_act::Pad40>(),
                       [](const Shape& s, int64_t t, int64_t k) {
                         const int64_t page = (t / 64 * 64 * (s.id() / 32) + k / 32) * 40;
                         const int64_t straight = t % 64 * 32 + k % 32;
                         return page + (straight ^ (straight >> 7 & 7) << 4);
                       });
}

TEST(Misread, TokensOnThePagesOfTilesStartWhereTheSwizzlePutsThem) {
  test_wrong_addresses(
      describe<q8_act::Pad40>(), describe<q8_act::Qa8>(), [](const Shape& s, int64_t t, int64_t k) {
        const int64_t straight = t % 64 * 32;
        const int64_t page =
            (t / 64 * (s.id() / 32) + k / 32) * 2048 + (straight ^ (straight >> 7 & 7) << 4);
        return page + 4 + k % 32;
      });
}

/// Calls test(plane, beside, shape) for every pair of planes of one role.
template <class Test>
void for_each_pair(Test test) {
  for (const Contract* plane : shipped_catalog().planes()) {
    for (const Contract* beside : shipped_catalog().planes()) {
      if (plane->role != beside->role) continue;
      for (const Shape& shape : {Shape(1, 256, 1), Shape(2, 256, 2), Shape(1, 512, 1),
                                 Shape(5, 768, 64), Shape(4, 512, 70), Shape(3, 256, 130)}) {
        SCOPED_TRACE(plane->name + " beside " + beside->name + " " + shape.text());
        test(*plane, *beside, shape);
      }
    }
  }
}

TEST(Misread, FirstDifferenceIsTheFirstOfAllValues) {
  for_each_pair([](const Contract& plane, const Contract& beside, const Shape& shape) {
    const Misread misread(plane, beside, shape);
    std::optional<Value> first;
    for_each_value(plane, misread.field(), shape, [&](const Value& at) {
      if (!first && misread.right_bytes(at) != misread.wrong_bytes(at)) first = at;
    });
    const auto found = misread.first_difference();
    ASSERT_EQ(found.has_value(), first.has_value());
    if (!found) return;
    EXPECT_EQ(found->line, first->line);
    EXPECT_EQ(found->k, first->k);
  });
}

TEST(Misread, ConstantDriftsSayTheDistanceOfEveryValue) {
  for_each_pair([](const Contract& plane, const Contract& beside, const Shape& shape) {
    const Misread misread(plane, beside, shape);
    if (!misread.linear()) return;
    for_each_value(plane, misread.field(), shape, [&](const Value& at) {
      int64_t drift_bytes = 0;
      for (const PageDigit& digit : misread.digits()) {
        const int64_t coordinate = digit.mode->axis == Axis::kK ? at.k : at.line;
        drift_bytes += coordinate / digit.mode->div * digit.drift_bytes;
      }
      ASSERT_EQ(misread.right_bytes(at) - misread.wrong_bytes(at), drift_bytes)
          << "line " << at.line << " k " << at.k;
    });
  });
}

TEST(Misread, DriftIsConstantUnlessTheOtherPlaneCutsAPage) {
  const Shape shape(4, 512, 70);
  const auto linear = [&](const Contract& plane, const Contract& beside) {
    return Misread(plane, beside, shape).linear();
  };
  EXPECT_TRUE(linear(describe<q6_k::WExp>(), describe<q6_k::Padded>()));
  EXPECT_TRUE(linear(describe<q6_k::WDsc>(), describe<q6_k::WExp>()));
  EXPECT_FALSE(linear(describe<q6_k::WDsc>(), describe<q6_k::Padded>()));
  EXPECT_TRUE(linear(describe<q8_act::Qa8>(), describe<q8_act::Pad40>()));
  EXPECT_FALSE(linear(describe<q8_act::Pad40>(), describe<q8_act::Qa8>()));
  EXPECT_FALSE(linear(describe<q8_act::Pad40>(), describe<q8_act::Sda>()));
}

TEST(Misread, DriftIsNotConstantWherePagesAreFinerThanEveryDigitOfTheOtherPlane) {
  Contract scales = describe<q6_k::Padded>();
  scales.fields = {scales.fields[3]};
  const Misread misread(describe<q6_k::WDsc>(), scales, Shape(2, 512));
  EXPECT_TRUE(misread.digits()[0].wrong.has_value()) << "rows";
  EXPECT_FALSE(misread.digits()[1].wrong.has_value()) << "chunks of 32 in super-blocks of 256";
}

TEST(Misread, DriftIsNotConstantWhereTheOtherPlaneSwizzlesThePages) {
  Contract swizzled = describe<q6_k::WExp>();
  swizzled.fields[0].layout.swizzle = {3, 4, 3};
  const Misread half_span(describe<q6_k::WExp>(), swizzled, Shape(8, 512));
  EXPECT_FALSE(half_span.digits()[0].wrong.has_value());
  // Byte 256 of row 0 goes to 256 ^ (2 << 4).
  EXPECT_EQ(half_span.first_difference()->k, 256);
  const Misread span(describe<q6_k::WExp>(), swizzled, Shape(8, 1024));
  EXPECT_TRUE(span.digits()[0].wrong.has_value()) << "rows of 1024 bytes keep their bits 4..6";
  EXPECT_FALSE(span.digits()[1].wrong.has_value());
}

int64_t highest(const Contract& plane, const Contract& beside, const Shape& shape) {
  return Misread(plane, beside, shape).highest_wrong_byte();
}

TEST(Misread, HighestWrongByteIsTheHighestOfAllValues) {
  for_each_pair([](const Contract& plane, const Contract& beside, const Shape& shape) {
    const Misread misread(plane, beside, shape);
    if (!misread.linear() || plane.fields.size() > 1) return;
    int64_t last = 0;
    for_each_value(plane, misread.field(), shape, [&](const Value& at) {
      last = std::max(last, misread.wrong_bytes(at) + (misread.field().bits + 7) / 8 - 1);
    });
    EXPECT_EQ(misread.highest_wrong_byte(), last);
  });
}

TEST(Misread, HighestWrongByteMayLieInTheTileBeforeTheLast) {
  // Tiles 16 bytes apart: token 63 of tile 0 ends at 2047, token 64 alone at 16 + 31.
  Contract dense = describe<q8_act::Qa8>();
  dense.fields[0].layout.modes[2].stride_bits = {8 * 16};
  dense.fields[0].layout.modes[3].stride_bits = {8 * 16};
  dense.fields[0].layout.swizzle = {};
  EXPECT_EQ(highest(describe<q8_act::Qa8>(), dense, Shape(1, 256, 65)), 7 * 16 + 2047);
}

TEST(Misread, HighestWrongByteOfTheIncidentStaysInsideThePlane) {
  EXPECT_EQ(highest(describe<q6_k::WExp>(), describe<q6_k::Padded>(), Shape(70, 512)),
            224 * 70 * 2 + 31);
}

TEST(Misread, HighestWrongByteCountsTheLastFieldOfABlock) {
  // Block 5 at 5*224, its d at 208 and 209.
  EXPECT_EQ(highest(describe<q6_k::Raw>(), describe<q6_k::Padded>(), Shape(3, 512)), 5 * 224 + 209);
}

TEST(MisreadWindow, DrawsWhereOneRowEndsAndTheNextBegins) {
  Contract tight = describe<q6_k::WExp>();
  tight.fields[0].layout.modes[2].stride_bits = {8 * 250, Symbol::kNsb};
  const Contract& plane = describe<q6_k::WExp>();
  const Shape shape(3, 256);
  const std::string text = window_text(plane, Misread(plane, tight, shape), shape, {1, 0});
  EXPECT_THAT(text,
              testing::HasSubstr(
                  "          row 1, super-block 0 (codes)\n"
                  "  wanted  |  0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15 |\n"
                  "  found   |250 251 252 253 254 255|  0   1   2   3   4   5   6   7   8   9 |\n"
                  "          row 0, super-block 0 (codes), from byte 250\n"
                  "                                  row 1, super-block 0 (codes), from byte "
                  "256\n"));
}

TEST(MisreadWindow, DrawsWhereOneSuperBlockEndsAndTheNextBegins) {
  Contract tight = describe<q6_k::WExp>();
  tight.fields[0].layout.modes[1].stride_bits = {8 * 250};
  const Contract& plane = describe<q6_k::WExp>();
  const Shape shape(1, 512);
  EXPECT_THAT(window_text(plane, Misread(plane, tight, shape), shape, {0, 256}),
              testing::HasSubstr("  found   |250 251 252 253 254 255|  0   1 "));
}

TEST(MisreadWindow, SaysThatAnAddressLiesInsideAValue) {
  Contract tight = describe<q6_k::WDsc>();
  tight.fields[0].layout.modes[1].stride_bits = {8 * 5};
  const Contract& plane = describe<q6_k::WDsc>();
  const Shape shape(4, 256);
  // Row 1 read at 5: one byte into the value at 4.
  EXPECT_THAT(window_text(plane, Misread(plane, tight, shape), shape, {1, 0}),
              testing::HasSubstr("row 0, super-block 0 (dsc), from byte 5, inside a value that "
                                 "starts at 4\n"));
}

}  // namespace
}  // namespace planegate::cli
