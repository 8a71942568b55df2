#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/core/shape.h>

namespace planegate {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Shape, CountsSuperBlocksOfARow) {
  EXPECT_EQ(Shape(70, 512, 3).nsb(), 2);
  EXPECT_EQ(Shape(1, 256).nsb(), 1);
}

TEST(Shape, RefusesNsbOfAnIdThatIsNoMultipleOf256) {
  const Shape shape(1, 640);
  EXPECT_THAT([&] { return shape.nsb(); },
              ThrowsMessage<ContractError>("id=640: not a multiple of 256"));
}

TEST(Shape, PrintsNsbOnlyWhereItExists) {
  EXPECT_EQ(Shape(70, 512, 3).text(), "od=70 id=512 nsb=2 nt=3");
  EXPECT_EQ(Shape(70, 640, 3).text(), "od=70 id=640 nt=3");
}

TEST(Shape, RefusesExtentsBelowOne) {
  EXPECT_THAT([] { Shape(0, 256, 1); }, ThrowsMessage<ContractError>("od=0: at least 1"));
  EXPECT_THAT([] { Shape(1, -256, 1); }, ThrowsMessage<ContractError>("id=-256: at least 1"));
  EXPECT_THAT([] { Shape(1, 256, 0); }, ThrowsMessage<ContractError>("nt=0: at least 1"));
}

TEST(Shape, RefusesProductsAbove2To59) {
  constexpr int64_t k2To30 = int64_t{1} << 30;
  EXPECT_NO_THROW(Shape(k2To30 / 2, k2To30, 1));
  EXPECT_THAT([] { Shape(k2To30, k2To30, 1); }, ThrowsMessage<ContractError>(HasSubstr("od*id")));
  EXPECT_THAT([] { Shape(1, k2To30, k2To30); }, ThrowsMessage<ContractError>(HasSubstr("nt*id")));
  EXPECT_THAT([] { Shape(k2To30, 1, k2To30); }, ThrowsMessage<ContractError>(HasSubstr("nt*od")));
}

TEST(Shape, ShardHasOriginAndParentOfItsAxisAlone) {
  const Shape part = Shape(512, 3584, 7).shard(Axis::kK, 1792, 1792);
  EXPECT_EQ(part.range(Axis::kK), (AxisRange{1792, 1792, 3584}));
  EXPECT_EQ(part.range(Axis::kRow), (AxisRange{512, 0, 512}));
  EXPECT_EQ(part.id(), 1792);
}

TEST(Shape, ShardOfAShardAddsOrigins) {
  const Shape part = Shape(512, 256).shard(Axis::kRow, 128, 256).shard(Axis::kRow, 64, 64);
  EXPECT_EQ(part.range(Axis::kRow), (AxisRange{64, 192, 512}));
}

TEST(Shape, RefusesAShardOutsideItsAxis) {
  const Shape shape(512, 256);
  EXPECT_THAT([&] { shape.shard(Axis::kRow, -1, 1); },
              ThrowsMessage<ContractError>("origin=-1: at least 0"));
  EXPECT_THAT([&] { shape.shard(Axis::kRow, 256, 257); },
              ThrowsMessage<ContractError>("extent=257: between 1 and 256 at origin 256"));
  EXPECT_THAT([&] { shape.shard(Axis::kRow, 0, 0); },
              ThrowsMessage<ContractError>("extent=0: between 1 and 512 at origin 0"));
}

TEST(Shape, OtherTokensKeepTheShardOfTheWeights) {
  const Shape part = Shape(512, 3584, 7).shard(Axis::kRow, 256, 256).with_tokens(65);
  EXPECT_EQ(part.nt(), 65);
  EXPECT_EQ(part.range(Axis::kRow), (AxisRange{256, 256, 512}));
}

}  // namespace
}  // namespace planegate
