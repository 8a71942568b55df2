#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/core/sealed_bytes.h>

namespace planegate {
namespace {

using ::testing::Each;
using ::testing::ThrowsMessage;

constexpr std::byte kValue{0x3C};

SealedBytes sealed_bytes_of(int64_t size_bytes) {
  SealedBytes sealed(size_bytes);
  std::ranges::fill(sealed.writable(), kValue);
  sealed.seal();
  return sealed;
}

TEST(SealedBytes, StayReadableOnceSealed) {
  const SealedBytes sealed = sealed_bytes_of(5000);
  EXPECT_EQ(sealed.bytes().size(), 5000u);
  EXPECT_THAT(sealed.bytes(), Each(kValue));
}

TEST(SealedBytesDeathTest, AWriteToSealedBytesDies) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const SealedBytes sealed = sealed_bytes_of(5000);
  auto* const at = const_cast<volatile std::byte*>(&sealed.bytes().back());
  EXPECT_DEATH(*at = std::byte{0}, "");
}

TEST(SealedBytes, RefuseAWritableViewOnceSealed) {
  SealedBytes sealed = sealed_bytes_of(16);
  EXPECT_THAT([&] { sealed.writable(); },
              ThrowsMessage<ContractError>("sealed=1: bytes that are not sealed"));
}

TEST(SealedBytes, RefuseANegativeSize) {
  EXPECT_THAT([] { SealedBytes(-1); }, ThrowsMessage<ContractError>("size_bytes=-1: at least 0"));
}

TEST(SealedBytes, ReportMemoryThatDoesNotExist) {
  EXPECT_THROW(SealedBytes(int64_t{1} << 60), std::bad_alloc);
}

TEST(SealedBytes, MoveKeepsTheSealAndThePlace) {
  SealedBytes from = sealed_bytes_of(16);
  const std::byte* const at = from.bytes().data();
  SealedBytes to = std::move(from);
  EXPECT_EQ(to.bytes().data(), at);
  EXPECT_THROW(to.writable(), ContractError);
  SealedBytes assigned(1);
  assigned = std::move(to);
  EXPECT_EQ(assigned.bytes().data(), at);
  EXPECT_THROW(assigned.writable(), ContractError);
}

TEST(SealedBytes, MayBeEmpty) {
  SealedBytes empty(0);
  empty.seal();
  EXPECT_TRUE(empty.bytes().empty());
}

}  // namespace
}  // namespace planegate
