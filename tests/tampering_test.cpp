#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>

#include "gates/faults.h"

namespace planegate {
namespace {

using gates::Tampering;
using gates::Transfer;
using testing::Each;
using Bytes = std::vector<std::byte>;

constexpr std::byte kOld{0x11}, kNew{0x22}, kWrong{0x33};

std::unique_ptr<Device> tampering(Tampering fault) {
  std::string why_not;
  return gates::make_tampering_device(DeviceKind::kHost, std::move(fault), why_not);
}

Bytes landed(Device& device, const DeviceBuffer& buffer) {
  Bytes bytes(static_cast<size_t>(buffer.size_bytes()));
  device.read_back(buffer, bytes);
  device.synchronise();
  return bytes;
}

void put_wrong(const Transfer& copy) {
  if (copy.nth == 2) std::fill(copy.bytes.begin(), copy.bytes.end(), kWrong);
}

TEST(Tampering, ChangesTheNthUploadOfTheNamedBufferAlone) {
  Tampering fault{"w/w_exp"};
  fault.upload = put_wrong;
  const auto device = tampering(fault);
  const DeviceBuffer mine = device->allocate("w/w_exp", 8);
  const DeviceBuffer other = device->allocate("w/raw", 8);
  for (const DeviceBuffer* buffer : {&mine, &other}) {
    device->upload(*buffer, Bytes(8, kOld));
    EXPECT_THAT(landed(*device, *buffer), Each(kOld));
    device->upload(*buffer, Bytes(8, kNew));
  }
  EXPECT_THAT(landed(*device, mine), Each(kWrong));
  EXPECT_THAT(landed(*device, other), Each(kNew));
}

TEST(Tampering, ChangesAReadBackOnceItHasLandedAndLeavesTheBuffer) {
  Tampering fault{"/w_exp"};
  fault.read_back = put_wrong;
  const auto device = tampering(fault);
  const DeviceBuffer buffer = device->allocate("w/w_exp", 8);
  device->upload(buffer, Bytes(8, kNew));
  EXPECT_THAT(landed(*device, buffer), Each(kNew));
  Bytes second(8);
  device->read_back(buffer, second);
  EXPECT_THAT(second, Each(kPoison));
  device->synchronise();
  EXPECT_THAT(second, Each(kWrong));
  EXPECT_THAT(landed(*device, buffer), Each(kNew));
}

TEST(Tampering, SendsTheFirstUploadIntoTheOtherBuffer) {
  Tampering fault{"x/qa8"};
  fault.upload_into = "w/w_exp";
  const auto device = tampering(fault);
  const DeviceBuffer victim = device->allocate("w/w_exp", 8);
  const DeviceBuffer mine = device->allocate("x/qa8", 8);
  device->upload(victim, Bytes(8, kOld));
  device->upload(mine, Bytes(8, kNew));
  EXPECT_THAT(landed(*device, victim), Each(kNew));
  EXPECT_THAT(landed(*device, mine), Each(kPoison));
  device->upload(mine, Bytes(8, kOld));
  EXPECT_THAT(landed(*device, mine), Each(kOld));
}

TEST(Tampering, ReadsTheOtherBufferBackOnce) {
  Tampering fault{"x/qa8"};
  fault.read_back_from = "w/w_exp";
  const auto device = tampering(fault);
  const DeviceBuffer other = device->allocate("w/w_exp", 8);
  const DeviceBuffer mine = device->allocate("x/qa8", 8);
  device->upload(other, Bytes(8, kOld));
  device->upload(mine, Bytes(8, kNew));
  EXPECT_THAT(landed(*device, mine), Each(kOld));
  EXPECT_THAT(landed(*device, mine), Each(kNew));
}

TEST(Tampering, RefusesABufferThatWasNeverAllocated) {
  Tampering fault{"x/qa8"};
  fault.upload_into = "w/nosuch";
  const auto device = tampering(fault);
  const DeviceBuffer mine = device->allocate("x/qa8", 8);
  EXPECT_THROW(device->upload(mine, Bytes(8, kNew)), ContractError);
}

TEST(Tampering, AllocatesLessThanWasAskedFor) {
  Tampering fault{"workspace"};
  fault.allocate = [](int64_t bytes) { return bytes - 4; };
  const auto device = tampering(fault);
  EXPECT_EQ(device->allocate("workspace", 64).size_bytes(), 60);
  EXPECT_EQ(device->allocate("y", 64).size_bytes(), 64);
}

}  // namespace
}  // namespace planegate
