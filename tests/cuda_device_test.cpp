#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>
#include <planegate/devices/device.h>

#if PLANEGATE_HAVE_CUDA
#include <planegate/devices/cuda_device.h>
#endif

#include "tests/require_device.h"

namespace planegate {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

TEST(MakeCudaDevice, SaysWhyThereIsNone) {
  std::string why_not = "stale";
  const auto device = make_cuda_device(why_not);
  if (device != nullptr) {
    EXPECT_EQ(why_not, "");
  } else if (PLANEGATE_HAVE_CUDA) {
    EXPECT_THAT(why_not, StartsWith("no CUDA device: cuda"));
  } else {
    EXPECT_EQ(why_not, "built without CUDA");
  }
}

#if PLANEGATE_HAVE_CUDA

constexpr int kNoSuchDevice = 1 << 20;

TEST(CudaError, SaysCallPlaceNameTextAndDevice) {
  EXPECT_THAT([] { PLANEGATE_CUDA_CHECK(cudaSetDevice(kNoSuchDevice)); },
              ThrowsMessage<CudaError>(::testing::MatchesRegex(
                  "cudaSetDevice\\(kNoSuchDevice\\): cudaError[A-Za-z]+: .* "
                  "\\(cuda_device_test\\.cpp:[0-9]+, (device [0-9]+|no device)\\)")));
}

TEST(CudaError, KeepsItsCode) {
  try {
    PLANEGATE_CUDA_CHECK(cudaErrorInvalidValue);
    FAIL() << "nothing was thrown";
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), cudaErrorInvalidValue);
    EXPECT_THAT(error.what(), HasSubstr("cudaErrorInvalidValue: invalid argument"));
  }
}

TEST(CudaError, IsALostDeviceWhereNoLaterCallCanSucceed) {
  EXPECT_THAT([] { PLANEGATE_CUDA_CHECK(cudaErrorIllegalAddress); },
              ThrowsMessage<DeviceLost>(
                  StartsWith("device lost: cudaErrorIllegalAddress: cudaErrorIllegalAddress: ")));
  EXPECT_THROW(PLANEGATE_CUDA_CHECK(cudaErrorLaunchFailure), DeviceLost);
  EXPECT_THROW(PLANEGATE_CUDA_CHECK(cudaErrorECCUncorrectable), DeviceLost);
  EXPECT_FALSE(loses_device(cudaErrorMemoryAllocation));
  EXPECT_FALSE(loses_device(cudaErrorInvalidConfiguration));
}

TEST(CudaCleanup, RecordsTheFirstFailureUntilItIsTaken) {
  static_cast<void>(take_cuda_cleanup_error());
  PLANEGATE_CUDA_RECORD(cudaSuccess);
  PLANEGATE_CUDA_RECORD(cudaErrorInvalidValue);
  PLANEGATE_CUDA_RECORD(cudaErrorMemoryAllocation);
  EXPECT_THAT(take_cuda_cleanup_error(), HasSubstr("cudaErrorInvalidValue"));
  EXPECT_EQ(take_cuda_cleanup_error(), "");
}

constexpr int64_t kRing = CudaDevice::kChunkBytes * CudaDevice::kChunks;

std::vector<std::byte> bytes_of(int64_t size_bytes, uint64_t seed) {
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(payload(seed, i));
  return bytes;
}

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static_cast<void>(take_cuda_cleanup_error());
    device_ = test::require_cuda_device();
  }
  void TearDown() override {
    device_.reset();
    EXPECT_EQ(take_cuda_cleanup_error(), "");
  }

  cudaStream_t stream() const { return dynamic_cast<CudaDevice&>(*device_).stream(); }

  std::vector<std::byte> content(const DeviceBuffer& buffer) {
    std::vector<std::byte> bytes(static_cast<size_t>(buffer.size_bytes()));
    device_->read_back(buffer, bytes);
    device_->synchronise();
    return bytes;
  }

  void poke(const DeviceBuffer& buffer, int64_t offset_bytes) {
    const DeviceAddress at = buffer.address() + static_cast<DeviceAddress>(offset_bytes);
    PLANEGATE_CUDA_CHECK(cudaMemsetAsync(reinterpret_cast<void*>(at), 0x11, 1, stream()));
  }

  void expect_breach(int64_t size_bytes, int64_t offset_bytes) {
    const DeviceBuffer buffer = device_->allocate("plane", size_bytes);
    poke(buffer, offset_bytes);
    const auto breach = device_->breached_guard(buffer);
    ASSERT_TRUE(breach.has_value()) << "size " << size_bytes << " offset " << offset_bytes;
    EXPECT_EQ(breach->offset_bytes, offset_bytes);
    EXPECT_EQ(breach->value, std::byte{0x11});
  }

  std::unique_ptr<Device> device_;
};

TEST_F(CudaDeviceTest, NamesItself) {
  EXPECT_EQ(device_->kind(), DeviceKind::kCuda);
  EXPECT_EQ(device_->name(), "cuda");
  EXPECT_THAT(device_->description(),
              ::testing::MatchesRegex(".+, sm_[0-9]+, [0-9]+ SMs, CUDA [0-9]+\\.[0-9]"));
}

TEST_F(CudaDeviceTest, ReportsMemoryThatShrinksByWhatIsAllocated) {
  const auto before = device_->memory();
  ASSERT_TRUE(before.has_value());
  EXPECT_LE(before->free_bytes, before->total_bytes);
  constexpr int64_t kBytes = int64_t{1} << 30;
  const DeviceBuffer buffer = device_->allocate("large", kBytes);
  device_->synchronise();
  EXPECT_LT(device_->memory()->free_bytes, before->free_bytes);
  EXPECT_EQ(device_->memory()->total_bytes, before->total_bytes);
}

TEST_F(CudaDeviceTest, HandsOutAlignedPoison) {
  const DeviceBuffer buffer = device_->allocate("plane", 5000);
  EXPECT_EQ(buffer.address() % static_cast<DeviceAddress>(kBufferAlignmentBytes), 0u);
  EXPECT_THAT(content(buffer), Each(kPoison));
}

TEST_F(CudaDeviceTest, RefusesSizesBelowOne) {
  EXPECT_THAT([&] { device_->allocate("plane", 0); },
              ThrowsMessage<ContractError>("size_bytes=0: at least 1"));
}

TEST_F(CudaDeviceTest, ReportsMemoryThatDoesNotExistAndWorksOn) {
  EXPECT_THAT([&] { device_->allocate("plane", int64_t{1} << 60); },
              ThrowsMessage<DeviceOutOfMemory>(HasSubstr("cudaErrorMemoryAllocation")));
  EXPECT_NO_THROW(device_->synchronise());
  EXPECT_THAT(content(device_->allocate("plane", 16)), Each(kPoison));
}

TEST_F(CudaDeviceTest, ReadBackHoldsPoisonUntilSynchronise) {
  const DeviceBuffer buffer = device_->allocate("plane", 5000);
  std::vector<std::byte> target(5000, std::byte{1});
  device_->upload(buffer, bytes_of(5000, 1));
  device_->read_back(buffer, target);
  PLANEGATE_CUDA_CHECK(cudaStreamSynchronize(stream()));
  EXPECT_THAT(target, Each(kPoison));
  device_->synchronise();
  EXPECT_EQ(target, bytes_of(5000, 1));
}

TEST_F(CudaDeviceTest, SourceMayBeReusedOnceUploadHasReturned) {
  const int64_t size_bytes = CudaDevice::kChunkBytes;
  const DeviceBuffer buffer = device_->allocate("plane", size_bytes);
  auto source = bytes_of(size_bytes, 1);
  device_->upload(buffer, source);
  source.assign(source.size(), std::byte{0});
  EXPECT_TRUE(content(buffer) == bytes_of(size_bytes, 1));
}

TEST_F(CudaDeviceTest, RunsWorkInTheOrderOfTheCalls) {
  const DeviceBuffer buffer = device_->allocate("plane", 300);
  std::vector<std::byte> uploaded(300), filled(300), written(300);
  device_->upload(buffer, bytes_of(300, 1));
  device_->read_back(buffer, uploaded);
  device_->fill(buffer, std::byte{7});
  device_->read_back(buffer, filled);
  poke(buffer, 2);
  device_->read_back(buffer, written);
  device_->synchronise();
  EXPECT_EQ(uploaded, bytes_of(300, 1));
  EXPECT_THAT(filled, Each(std::byte{7}));
  EXPECT_EQ(written[2], std::byte{0x11});
  EXPECT_EQ(written[3], std::byte{7});
}

TEST_F(CudaDeviceTest, CopiesMoreThanTheRingHoldsBothWays) {
  const int64_t size_bytes = kRing + CudaDevice::kChunkBytes + 12345;
  const DeviceBuffer buffer = device_->allocate("plane", size_bytes);
  const auto source = bytes_of(size_bytes, 2);
  std::vector<std::byte> target(source.size());
  device_->upload(buffer, source);
  device_->read_back(buffer, target);
  EXPECT_EQ(target.back(), kPoison);
  device_->synchronise();
  EXPECT_TRUE(target == source);
}

TEST_F(CudaDeviceTest, ScansEveryByteInOrderWhateverItsSize) {
  for (const int64_t size_bytes :
       {int64_t{1}, CudaDevice::kSmallBytes, CudaDevice::kChunkBytes, kRing + 12345, 3 * kRing}) {
    const DeviceBuffer buffer = device_->allocate("plane", size_bytes);
    const auto source = bytes_of(size_bytes, 5);
    device_->upload(buffer, source);
    std::vector<std::byte> seen;
    device_->scan(buffer, [&](std::span<const std::byte> piece) {
      seen.insert(seen.end(), piece.begin(), piece.end());
    });
    EXPECT_TRUE(seen == source) << size_bytes;
  }
}

TEST_F(CudaDeviceTest, ScanThatIsGivenUpLeavesTheDeviceUsable) {
  const DeviceBuffer buffer = device_->allocate("plane", 2 * kRing);
  const auto source = bytes_of(2 * kRing, 6);
  device_->upload(buffer, source);
  EXPECT_THROW(device_->scan(buffer, [](auto) { throw std::runtime_error("enough"); }),
               std::runtime_error);
  EXPECT_TRUE(content(buffer) == source);
}

TEST_F(CudaDeviceTest, ReadBacksLandThoughLaterOnesNeedTheirChunks) {
  const DeviceBuffer buffer = device_->allocate("plane", 100);
  std::vector<std::vector<std::byte>> targets(3 * CudaDevice::kChunks, std::vector<std::byte>(100));
  for (size_t i = 0; i < targets.size(); ++i) {
    device_->upload(buffer, bytes_of(100, i));
    device_->read_back(buffer, targets[i]);
  }
  device_->synchronise();
  for (size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(targets[i], bytes_of(100, i)) << i;
}

TEST_F(CudaDeviceTest, RefusesCopiesOfAnotherSize) {
  const DeviceBuffer buffer = device_->allocate("plane", 16);
  std::vector<std::byte> other(15, std::byte{1});
  EXPECT_THAT([&] { device_->upload(buffer, other); },
              ThrowsMessage<ContractError>("from.size()=15: 16 bytes of buffer plane"));
  EXPECT_THAT([&] { device_->read_back(buffer, other); },
              ThrowsMessage<ContractError>("to.size()=15: 16 bytes of buffer plane"));
  EXPECT_THAT(other, Each(std::byte{1}));
}

TEST_F(CudaDeviceTest, FindsABreachOfTheGuardBefore) {
  expect_breach(5000, -1);
  expect_breach(5000, -kGuardBytes);
}

TEST_F(CudaDeviceTest, FindsABreachOfTheGuardBehind) {
  expect_breach(5000, 5000);
  expect_breach(1, 1);
  expect_breach(5000, 5000 + kGuardBytes - 1);
}

TEST_F(CudaDeviceTest, FindsNoBreachWhereOnlyTheContentWasWritten) {
  const DeviceBuffer buffer = device_->allocate("plane", 5000, std::byte{0x5A});
  device_->fill(buffer, std::byte{0});
  device_->upload(buffer, bytes_of(5000, 1));
  EXPECT_EQ(device_->breached_guard(buffer), std::nullopt);
}

TEST_F(CudaDeviceTest, FindsTheBreachedAmongManyBuffers) {
  std::vector<DeviceBuffer> buffers;
  for (int64_t i = 0; i < 150; ++i) {
    buffers.push_back(device_->allocate("plane", 5 + i, static_cast<std::byte>(i)));
  }
  poke(buffers[0], -3);
  poke(buffers[149], buffers[149].size_bytes() + 7);
  std::vector<const DeviceBuffer*> all;
  for (const DeviceBuffer& buffer : buffers) all.push_back(&buffer);
  const auto breaches = device_->breached_guards(all);
  ASSERT_EQ(breaches.size(), buffers.size());
  for (size_t i = 0; i < breaches.size(); ++i) EXPECT_EQ(breaches[i].has_value(), i % 149 == 0);
  EXPECT_EQ(breaches[0]->offset_bytes, -3);
  EXPECT_EQ(breaches[149]->offset_bytes, buffers[149].size_bytes() + 7);
}

TEST_F(CudaDeviceTest, PoisonsMemoryThatAnotherBufferHadBefore) {
  for (int i = 0; i < 3; ++i) {
    const DeviceBuffer buffer = device_->allocate("plane", 5000, static_cast<std::byte>(i));
    EXPECT_THAT(content(buffer), Each(kPoison));
    poke(buffer, -1);
    device_->upload(buffer, bytes_of(5000, 1));
  }
  const DeviceBuffer last = device_->allocate("plane", 5000);
  EXPECT_EQ(device_->breached_guard(last), std::nullopt);
}

TEST_F(CudaDeviceTest, CompanyRunsBesideWhatIsQueuedAndEnds) {
  const DeviceBuffer buffer = device_->allocate("plane", 5000);
  for (int i = 1; i <= 300; ++i) {
    device_->start_company();
    device_->fill(buffer, static_cast<std::byte>(i));
    EXPECT_TRUE(device_->end_company()) << i;
    EXPECT_THAT(content(buffer), Each(static_cast<std::byte>(i)));
  }
}

TEST_F(CudaDeviceTest, CompanyEndsByItselfWhereNothingEndsIt) {
  device_->start_company();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_FALSE(device_->end_company());
}

TEST_F(CudaDeviceTest, RefusedCallSurfacesOnceAndTheStreamWorksOn) {
  const DeviceBuffer buffer = device_->allocate("plane", 16);
  EXPECT_THROW(PLANEGATE_CUDA_CHECK(cudaMemsetAsync(nullptr, 0, 16, stream())), CudaError);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_NO_THROW(device_->synchronise());
  device_->upload(buffer, bytes_of(16, 3));
  EXPECT_EQ(content(buffer), bytes_of(16, 3));
}

TEST_F(CudaDeviceTest, WorkQueuedBeforeAFreeStillFindsTheMemory) {
  std::vector<std::byte> target(16);
  {
    const DeviceBuffer buffer = device_->allocate("plane", 16);
    device_->upload(buffer, bytes_of(16, 4));
    device_->read_back(buffer, target);
  }
  device_->synchronise();
  EXPECT_EQ(target, bytes_of(16, 4));
}

TEST_F(CudaDeviceTest, RefusesBuffersThatAreNotItsOwn) {
  const auto host = make_host_device();
  const DeviceBuffer foreign = host->allocate("plane", 16);
  std::vector<std::byte> bytes(16);
  EXPECT_THROW(device_->upload(foreign, bytes), ContractError);
  EXPECT_THROW(device_->read_back(foreign, bytes), ContractError);
  EXPECT_THROW(device_->fill(foreign, std::byte{0}), ContractError);
  EXPECT_THROW(device_->breached_guard(foreign), ContractError);
}

#else

TEST(CudaDeviceTest, NeedsABuildWithCuda) {
  static_cast<void>(test::require_cuda_device());
}

#endif

}  // namespace
}  // namespace planegate
