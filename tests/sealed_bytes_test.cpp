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

TEST(SealedBytes, CopyIsSealedAndApart) {
  const SealedBytes from = sealed_bytes_of(5000);
  SealedBytes copy = SealedBytes::copy_of(from.bytes());
  EXPECT_TRUE(copy.sealed());
  EXPECT_NE(copy.bytes().data(), from.bytes().data());
  EXPECT_TRUE(std::ranges::equal(copy.bytes(), from.bytes()));
  EXPECT_THROW(copy.writable(), ContractError);
}

TEST(SealedArray, HoldsNumbersThatAreZeroUntilWritten) {
  SealedArray<double> array(1000);
  EXPECT_EQ(array.size(), 1000u);
  EXPECT_THAT(array, Each(0.0));
  array.writable()[999] = 1.5;
  array.seal();
  EXPECT_TRUE(array.sealed());
  EXPECT_EQ(array[999], 1.5);
  EXPECT_EQ(*(array.end() - 1), 1.5);
  EXPECT_THROW(array.writable(), ContractError);
}

TEST(SealedArrayDeathTest, AWriteToASealedArrayDies) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SealedArray<double> array(1000);
  array.seal();
  auto* const at = const_cast<volatile double*>(&array[999]);
  EXPECT_DEATH(*at = 1, "");
}

TEST(SealedArray, MayBeEmpty) {
  EXPECT_EQ(SealedArray<double>().size(), 0u);
}

TEST(SealedBytes, MayBeEmpty) {
  SealedBytes empty(0);
  empty.seal();
  EXPECT_TRUE(empty.bytes().empty());
}

}  // namespace
}  // namespace planegate
