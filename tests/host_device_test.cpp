#include <fstream>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>
#include <planegate/core/specs.h>
#include <planegate/devices/host_device.h>

#include "tests/require_device.h"

namespace planegate {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr int64_t kRing = HostDevice::kRingBytes;

std::vector<std::byte> bytes_of(int64_t size_bytes, uint64_t seed) {
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(payload(seed, i));
  return bytes;
}

/// The memory that a buffer stands in, its guard zones included.
std::byte* real_bytes(HostDevice& device, const DeviceBuffer& buffer) {
  return device.resolve(buffer.address()).data();
}

TEST(HostDeviceDeathTest, ItsAddressesCannotBeDereferenced) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 64);
  const auto* const at = reinterpret_cast<const volatile std::byte*>(buffer.address());
  EXPECT_DEATH(static_cast<void>(*at), "");
  const auto* const last = at + 63;
  EXPECT_DEATH(static_cast<void>(*last), "");
}

TEST(HostDevice, ItsAddressesAreNoAddressesOfAnyProcess) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 64);
  // Bit 63 without bit 62 is not canonical on x86-64, with 4 and with 5 levels of pages.
  EXPECT_EQ((buffer.address() - static_cast<DeviceAddress>(kGuardBytes)) >> 62, 2u);
}

TEST(HostDevice, NamesItself) {
  const auto device = make_host_device();
  EXPECT_EQ(device->kind(), DeviceKind::kHost);
  EXPECT_EQ(device->name(), "host");
  EXPECT_THAT(device->description(), ::testing::MatchesRegex("host executor, [0-9]+ threads"));
}

TEST(HostDevice, HasNoMemoryAndNoRegistersOfItsOwn) {
  const auto device = make_host_device();
  EXPECT_FALSE(device->memory().has_value());
  EXPECT_FALSE(device->attributes_of(KernelEntry{}).has_value());
}

TEST(HostDevice, KeepsBuffersApartAndAligned) {
  HostDevice device;
  const DeviceBuffer first = device.allocate("first", 4097);
  const DeviceBuffer second = device.allocate("second", 1);
  EXPECT_EQ(first.address() % static_cast<DeviceAddress>(kBufferAlignmentBytes), 0u);
  EXPECT_EQ(second.address() % static_cast<DeviceAddress>(kBufferAlignmentBytes), 0u);
  EXPECT_GT(second.address(), first.address() + 4097 + 2 * kGuardBytes);
}

TEST(HostDevice, HandsOutPoisonBetweenGuardZones) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 5000, std::byte{0x5A});
  EXPECT_THAT(device.resolve(buffer.address()), Each(kPoison));
  const std::byte* const at = real_bytes(device, buffer);
  EXPECT_THAT(std::span(at - kGuardBytes, kGuardBytes), Each(std::byte{0x5A}));
  EXPECT_THAT(std::span(at + 5000, kGuardBytes), Each(std::byte{0x5A}));
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size_pages = 0, resident_pages = 0;
  statm >> size_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

TEST(HostDevice, CommitsALargeBufferOnlyWhereItIsTouched) {
  HostDevice device;
  device.allocate("warm", 64 << 20);
  const int64_t before = resident_bytes();
  constexpr int64_t kLarge = (int64_t{8} << 30) + 12345;
  const DeviceBuffer buffer = device.allocate("large", kLarge);
  const std::span<std::byte> content = device.resolve(buffer.address());
  for (const int64_t at : {int64_t{0}, kLarge / 2, kLarge - (16 << 20), kLarge - 1}) {
    EXPECT_EQ(content[static_cast<size_t>(at)], kPoison) << "byte " << at;
  }
  content[static_cast<size_t>(kLarge / 2)] = std::byte{1};
  EXPECT_EQ(content[static_cast<size_t>(kLarge / 2 + (16 << 20))], kPoison);
  EXPECT_LT(resident_bytes() - before, int64_t{64} << 20);
}

TEST(HostDevice, RefusesSizesBelowOne) {
  HostDevice device;
  EXPECT_THAT([&] { device.allocate("plane", 0); },
              ThrowsMessage<ContractError>("size_bytes=0: at least 1"));
}

TEST(HostDevice, ReportsMemoryThatDoesNotExist) {
  HostDevice device;
  EXPECT_THAT([&] { device.allocate("plane", int64_t{1} << 60); },
              ThrowsMessage<DeviceError>(HasSubstr("no memory for plane on host: ")));
}

TEST(HostDevice, UploadLandsOnlyWhenTheStreamRuns) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 5000);
  const auto source = bytes_of(5000, 1);
  device.upload(buffer, source);
  EXPECT_THAT(device.resolve(buffer.address()), Each(kPoison));
  device.synchronise();
  EXPECT_THAT(device.resolve(buffer.address()), ::testing::ElementsAreArray(source));
}

TEST(HostDevice, ScansEveryByteInOrder) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", kRing + 12345);
  const auto source = bytes_of(kRing + 12345, 5);
  device.upload(buffer, source);
  std::vector<std::byte> seen;
  device.scan(buffer, [&](std::span<const std::byte> piece) {
    seen.insert(seen.end(), piece.begin(), piece.end());
  });
  EXPECT_TRUE(seen == source);
}

TEST(HostDevice, ReadBackHoldsPoisonUntilTheStreamRuns) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 5000);
  std::vector<std::byte> target(5000, std::byte{1});
  device.upload(buffer, bytes_of(5000, 1));
  device.read_back(buffer, target);
  EXPECT_THAT(target, Each(kPoison));
  device.synchronise();
  EXPECT_EQ(target, bytes_of(5000, 1));
}

TEST(HostDevice, SourceMayBeReusedOnceUploadHasReturned) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 5000);
  auto source = bytes_of(5000, 1);
  device.upload(buffer, source);
  source.assign(5000, std::byte{0});
  std::vector<std::byte> target(5000);
  device.read_back(buffer, target);
  device.synchronise();
  EXPECT_EQ(target, bytes_of(5000, 1));
}

TEST(HostDevice, RunsWorkInTheOrderOfTheCalls) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 300);
  std::vector<std::byte> uploaded(300), filled(300), written(300);
  device.upload(buffer, bytes_of(300, 1));
  device.read_back(buffer, uploaded);
  device.fill(buffer, std::byte{7});
  device.read_back(buffer, filled);
  device.enqueue([&] { device.resolve(buffer.address())[2] = std::byte{9}; });
  device.read_back(buffer, written);
  device.synchronise();
  EXPECT_EQ(uploaded, bytes_of(300, 1));
  EXPECT_THAT(filled, Each(std::byte{7}));
  EXPECT_EQ(written[2], std::byte{9});
  EXPECT_EQ(written[3], std::byte{7});
}

TEST(HostDevice, RingIsBoundedWhateverTheUpload) {
  HostDevice device;
  const int64_t size_bytes = 2 * kRing + 12345;
  const DeviceBuffer buffer = device.allocate("plane", size_bytes);
  const auto source = bytes_of(size_bytes, 1);
  device.upload(buffer, source);
  EXPECT_LE(device.staged_bytes(), kRing);
  const auto content = device.resolve(buffer.address());
  EXPECT_EQ(content.front(), source.front()) << "the ring was full: the stream ran forward";
  EXPECT_EQ(content.back(), kPoison) << "the last chunk waits in the ring";
  device.synchronise();
  EXPECT_EQ(device.staged_bytes(), 0);
  EXPECT_TRUE(std::ranges::equal(content, source));
}

TEST(HostDevice, ReadsBackMoreThanTheRingHolds) {
  HostDevice device;
  const int64_t size_bytes = 2 * kRing + 12345;
  const DeviceBuffer buffer = device.allocate("plane", size_bytes);
  const auto source = bytes_of(size_bytes, 2);
  std::vector<std::byte> target(source.size());
  device.upload(buffer, source);
  device.read_back(buffer, target);
  EXPECT_LE(device.staged_bytes(), kRing);
  EXPECT_EQ(target.back(), kPoison);
  device.synchronise();
  EXPECT_TRUE(target == source);
}

TEST(HostDevice, RingIsBoundedOverManySmallCopies) {
  HostDevice device;
  const int64_t size_bytes = kRing / 8 + 1;
  const DeviceBuffer buffer = device.allocate("plane", size_bytes);
  for (uint64_t i = 0; i < 20; ++i) {
    device.upload(buffer, bytes_of(size_bytes, i));
    ASSERT_LE(device.staged_bytes(), kRing);
  }
  std::vector<std::byte> target(static_cast<size_t>(size_bytes));
  device.read_back(buffer, target);
  device.synchronise();
  EXPECT_TRUE(target == bytes_of(size_bytes, 19));
}

TEST(HostDevice, RefusesCopiesOfAnotherSize) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 16);
  std::vector<std::byte> other(15, std::byte{1});
  EXPECT_THAT([&] { device.upload(buffer, other); },
              ThrowsMessage<ContractError>("from.size()=15: 16 bytes of buffer plane"));
  EXPECT_THAT([&] { device.read_back(buffer, other); },
              ThrowsMessage<ContractError>("to.size()=15: 16 bytes of buffer plane"));
  EXPECT_THAT(other, Each(std::byte{1}));
}

void expect_breach(int64_t size_bytes, int64_t offset_bytes) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", size_bytes);
  device.enqueue([&] { real_bytes(device, buffer)[offset_bytes] = std::byte{0x11}; });
  const auto breach = device.breached_guard(buffer);
  ASSERT_TRUE(breach.has_value()) << "size " << size_bytes << " offset " << offset_bytes;
  EXPECT_EQ(breach->offset_bytes, offset_bytes);
  EXPECT_EQ(breach->value, std::byte{0x11});
}

TEST(HostDevice, FindsABreachOfTheGuardBefore) {
  expect_breach(5000, -1);
  expect_breach(5000, -2049);
  expect_breach(5000, -kGuardBytes);
}

TEST(HostDevice, FindsABreachOfTheGuardBehind) {
  expect_breach(5000, 5000);
  expect_breach(1, 1);
  expect_breach(5000, 5000 + kGuardBytes - 1);
  expect_breach((32 << 20) + 1, (32 << 20) + 1);
}

TEST(HostDevice, FindsNoBreachWhereOnlyTheContentWasWritten) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 5000, std::byte{0x5A});
  device.fill(buffer, std::byte{0});
  device.upload(buffer, bytes_of(5000, 1));
  EXPECT_EQ(device.breached_guard(buffer), std::nullopt);
}

TEST(HostDevice, ErrorOfQueuedWorkSurfacesOnceAndDropsTheRest) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 16);
  std::vector<std::byte> target(16);
  bool later_ran = false;
  device.enqueue([] { throw DeviceError("the kernel failed"); });
  device.enqueue([&] { later_ran = true; });
  device.read_back(buffer, target);
  EXPECT_THAT([&] { device.synchronise(); }, ThrowsMessage<DeviceError>("the kernel failed"));
  EXPECT_FALSE(later_ran);
  EXPECT_THAT(target, Each(kPoison));
  EXPECT_EQ(device.staged_bytes(), 0);
  EXPECT_NO_THROW(device.synchronise());
}

TEST(HostDevice, WorksAgainOnceTheErrorHasSurfaced) {
  HostDevice device;
  const DeviceBuffer buffer = device.allocate("plane", 16);
  device.enqueue([] { throw DeviceError("the kernel failed"); });
  EXPECT_THROW(device.synchronise(), DeviceError);
  std::vector<std::byte> target(16);
  device.upload(buffer, bytes_of(16, 3));
  device.read_back(buffer, target);
  device.synchronise();
  EXPECT_EQ(target, bytes_of(16, 3));
}

TEST(HostDevice, ErrorMetByAFullRingWaitsForSynchronise) {
  HostDevice device;
  const int64_t size_bytes = 2 * kRing;
  const DeviceBuffer buffer = device.allocate("plane", size_bytes);
  device.enqueue([] { throw DeviceError("the kernel failed"); });
  EXPECT_NO_THROW(device.upload(buffer, bytes_of(size_bytes, 1)));
  bool later_ran = false;
  device.enqueue([&] { later_ran = true; });
  EXPECT_THAT([&] { device.synchronise(); }, ThrowsMessage<DeviceError>("the kernel failed"));
  EXPECT_FALSE(later_ran);
}

TEST(HostDevice, WorkQueuedBeforeAFreeStillFindsTheMemory) {
  HostDevice device;
  std::vector<std::byte> target(16);
  std::byte seen{};
  {
    const DeviceBuffer buffer = device.allocate("plane", 16);
    device.upload(buffer, bytes_of(16, 4));
    device.read_back(buffer, target);
    const DeviceAddress address = buffer.address();
    device.enqueue([&device, &seen, address] { seen = device.resolve(address)[5]; });
  }
  EXPECT_NO_THROW(device.synchronise());
  EXPECT_EQ(target, bytes_of(16, 4));
  EXPECT_EQ(seen, target[5]);
}

TEST(HostDevice, ErrorMetByAFreeWaitsForSynchronise) {
  HostDevice device;
  {
    const DeviceBuffer buffer = device.allocate("plane", 16);
    device.enqueue([] { throw DeviceError("the kernel failed"); });
  }
  EXPECT_THROW(device.synchronise(), DeviceError);
}

TEST(HostDevice, RefusesAddressesWithoutALiveBuffer) {
  HostDevice device;
  DeviceAddress freed = 0;
  {
    const DeviceBuffer buffer = device.allocate("plane", 16);
    freed = buffer.address();
    EXPECT_THROW(device.resolve(freed + 1), ContractError);
  }
  EXPECT_THAT(
      [&] { device.resolve(freed); },
      ThrowsMessage<ContractError>(HasSubstr("not the start of a live buffer of device host")));
  const DeviceBuffer next = device.allocate("plane", 16);
  EXPECT_NE(next.address(), freed) << "an address is never handed out twice";
}

TEST(HostDevice, RefusesABufferOfAnotherDevice) {
  HostDevice device, other;
  const DeviceBuffer own = device.allocate("plane", 16);
  const DeviceBuffer foreign = other.allocate("plane", 16);
  std::vector<std::byte> bytes(16);
  EXPECT_THROW(device.upload(foreign, bytes), ContractError);
  EXPECT_THROW(device.read_back(foreign, bytes), ContractError);
  EXPECT_THROW(device.fill(foreign, std::byte{0}), ContractError);
  EXPECT_THROW(device.breached_guard(foreign), ContractError);
}

TEST(DeviceBuffer, MovesWithoutFreeingAndFreesWhatItReplaces) {
  HostDevice device;
  DeviceBuffer first = device.allocate("first", 16);
  DeviceBuffer second = device.allocate("second", 32);
  const DeviceAddress first_address = first.address();
  const DeviceAddress second_address = second.address();
  second = std::move(first);
  EXPECT_EQ(second.name(), "first");
  EXPECT_EQ(second.size_bytes(), 16);
  EXPECT_EQ(device.resolve(first_address).size(), 16u);
  EXPECT_THROW(device.resolve(second_address), ContractError);
  const DeviceBuffer third = std::move(second);
  EXPECT_EQ(device.resolve(third.address()).size(), 16u);
}

TEST(RequireDevice, FailsOnlyWhereADeviceIsRequired) {
  EXPECT_FATAL_FAILURE(test::report_missing_device("built without CUDA", true),
                       "PLANEGATE_REQUIRE_DEVICE is set, but built without CUDA");
}

}  // namespace
}  // namespace planegate
