#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/simt/launch_host.h>

/// What the executor demands of wgmma beside its values: fences, waits, released operands.
namespace planegate::simt {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsNan;

enum class Flaw {
  kNone,
  kNoAsyncFence,
  kNoBarrier,
  kNoWgmmaFence,
  kFenceBeforeTheOtherGroup,
  kNoRelease,
  kReleaseBeforeWait,
  kReadBeforeWait,
  kOverwrites,
  kOverwritesBehindABarrier,
  kMisalignedTile,
  kTileBeyond,
  kOneLaneWaitsForMore,
  kNoWait,
};

constexpr int kThreads = 128;
constexpr int kPieces = 128 * 8;
constexpr uint32_t kOnes = 0x3C003C00;

struct Kernel {
  static constexpr int kThreads = simt::kThreads;
  static constexpr int kMinBlocks = 1;
  struct alignas(1024) Shared {
    Words4 tile[kPieces];
    Words4 behind[64];
  };
  struct Args {
    GlobalPtr<float> out;  // (kThreads)
    Flaw flaw;
  };

  static void run(const Args& args, SharedRef<Shared> shared) {
    const Flaw flaw = args.flaw;
    const auto tile = shared.at(&Shared::tile);
    const Words4 ones = {kOnes, kOnes, kOnes, kOnes};
    for (int i = 0; i < kPieces / kThreads; ++i) tile.store(i * kThreads + thread(), ones);
    if (flaw != Flaw::kNoAsyncFence) fence_async();
    if (flaw != Flaw::kNoBarrier) sync_threads();
    multiply(flaw, tile, args);
  }

  static void multiply(Flaw flaw, SharedPtr<Words4> tile, const Args& args) {
    Words4 a = {kOnes, kOnes, kOnes, kOnes};
    float sum[64] = {};
    const int off = flaw == Flaw::kMisalignedTile ? 8 : flaw == Flaw::kTileBeyond ? 128 : 0;
    const auto read = (tile + off).cast<const Words4>();
    if (flaw != Flaw::kNoWgmmaFence) wgmma_fence();
    wgmma_m64k16_f16(sum, a, read, 0, false);
    wgmma_commit();
    if (flaw == Flaw::kFenceBeforeTheOtherGroup) wgmma_m64k16_f16(sum, a, read, 1, true);
    if (flaw == Flaw::kOneLaneWaitsForMore && thread() == 5) {
      wgmma_fence();
      wgmma_m64k16_f16(sum, a, read, 1, true);
      wgmma_commit();
    }
    if (flaw == Flaw::kReadBeforeWait) args.out.store(thread(), sum[0]);
    if (flaw == Flaw::kReleaseBeforeWait) wgmma_release(a);
    const bool unseen = flaw == Flaw::kOverwritesBehindABarrier;
    if (unseen || flaw == Flaw::kOverwrites) tile.store(thread(), Words4{});
    if (unseen) fence_async();
    if (unseen) sync_threads();
    if (flaw == Flaw::kNoWait) return;
    wgmma_wait<0>();
    if (flaw != Flaw::kNoRelease) wgmma_release(a);
    wgmma_fence();
    if (flaw != Flaw::kReadBeforeWait) args.out.store(thread(), sum[0]);
  }
};

struct Launched {
  std::vector<float> out = std::vector<float>(kThreads);
  std::string error;
  FaultKind kind{};
};

Launched launch(Flaw flaw) {
  HostDevice device;
  const DeviceBuffer out = device.allocate("out", 4 * kThreads);
  Launched launched;
  try {
    Binder binder(device);
    binder.launch<Kernel>({1, 1}, {binder.pointer<float>(out), flaw});
    device.read_back(out, std::as_writable_bytes(std::span(launched.out)));
    device.synchronise();
  } catch (const SimtFault& fault) {
    launched.error = fault.what();
    launched.kind = fault.kind();
  }
  return launched;
}

void expect_fault(Flaw flaw, FaultKind kind, const std::string& words) {
  const Launched launched = launch(flaw);
  ASSERT_NE(launched.error, "") << "not found";
  EXPECT_EQ(launched.kind, kind) << launched.error;
  EXPECT_THAT(launched.error, HasSubstr(words));
}

TEST(HostExecutorWgmma, MultipliesWhereEverythingIsFenced) {
  const Launched launched = launch(Flaw::kNone);
  ASSERT_EQ(launched.error, "");
  EXPECT_EQ(launched.out, std::vector<float>(kThreads, 16.0f));
}

TEST(HostExecutorWgmma, HasNoSumBeforeItIsWaitedFor) {
  const Launched launched = launch(Flaw::kReadBeforeWait);
  ASSERT_EQ(launched.error, "");
  EXPECT_THAT(launched.out, Each(IsNan()));
}

TEST(HostExecutorWgmma, FindsProductsThatAreNeverWaitedFor) {
  expect_fault(Flaw::kNoWait, FaultKind::kWgmmaNotWaited, "ends with 1 wgmma in flight");
}

TEST(HostExecutorWgmma, FindsATileThatNoFenceShows) {
  expect_fault(Flaw::kNoAsyncFence, FaultKind::kNotFenced, "with no fence_async since");
}

TEST(HostExecutorWgmma, FindsATileReadWithNoBarrier) {
  expect_fault(Flaw::kNoBarrier, FaultKind::kRace, "race");
}

TEST(HostExecutorWgmma, FindsAGroupWithNoFenceBeforeIt) {
  expect_fault(Flaw::kNoWgmmaFence, FaultKind::kNotFenced, "no wgmma_fence since the group before");
  expect_fault(Flaw::kFenceBeforeTheOtherGroup, FaultKind::kNotFenced,
               "no wgmma_fence since the group before");
}

TEST(HostExecutorWgmma, FindsOperandsWhoseRegistersMayBeTaken) {
  expect_fault(Flaw::kNoRelease, FaultKind::kNotFenced, "1 operands of earlier ones not released");
}

TEST(HostExecutorWgmma, FindsAReleaseBeforeTheWait) {
  expect_fault(Flaw::kReleaseBeforeWait, FaultKind::kNotFenced, "that was not waited for");
}

TEST(HostExecutorWgmma, FindsATileThatIsOverwrittenInFlight) {
  expect_fault(Flaw::kOverwrites, FaultKind::kNotFenced, "which thread 0 wrote");
}

/// As late as the hardware may: piece i of the tile is thread i's.
TEST(HostExecutorWgmma, ReadsTheTileWhenItIsWaitedFor) {
  const Launched launched = launch(Flaw::kOverwritesBehindABarrier);
  ASSERT_EQ(launched.error, "");
  EXPECT_EQ(launched.out[0], 0.0f) << "tokens 0 to 15 were overwritten";
}

TEST(HostExecutorWgmma, FindsATileOfAnotherAlignment) {
  expect_fault(Flaw::kMisalignedTile, FaultKind::kMisaligned, "multiplies");
}

TEST(HostExecutorWgmma, FindsATileBeyondSharedMemory) {
  expect_fault(Flaw::kTileBeyond, FaultKind::kOutOfBounds, "multiplies");
}

TEST(HostExecutorWgmma, FindsALaneThatWaitsForOtherProducts) {
  expect_fault(Flaw::kOneLaneWaitsForMore, FaultKind::kDivergentCollective,
               "other wgmma than the rest of its warp");
}

}  // namespace
}  // namespace planegate::simt
