#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/simt/launch_host.h>

namespace planegate::simt {
namespace {

using testing::HasSubstr;

constexpr int kThreads = 64;

struct Args {
  GlobalPtr<const std::byte> in;  // (kInBytes)
  GlobalPtr<uint32_t> out;        // (kThreads)
};
constexpr int64_t kInBytes = 4096;

struct Words {
  uint32_t w[4 * kThreads];
};

/// A kernel of the tests: 64 threads, one 16-byte slot of shared memory each.
template <class Body>
struct TestKernel {
  static constexpr int kThreads = simt::kThreads;
  static constexpr int kMinBlocks = 1;
  using Shared = Words;
  using Args = simt::Args;
  static void run(const Args& args, SharedRef<Shared> shared) {
    Body::run(args, shared.at(&Words::w));
  }
};

using Shared = SharedPtr<uint32_t>;

int neighbour() {
  return (thread() + 1) % kThreads;
}

struct Launched {
  std::vector<uint32_t> out;
  std::string error;
  FaultKind kind{};
};

template <class Body>
Launched launch(Schedule schedule) {
  HostDevice device;
  device.set_schedule(schedule);
  const DeviceBuffer in = device.allocate("plane", kInBytes);
  const DeviceBuffer out = device.allocate("out", 4 * kThreads);
  std::vector<std::byte> bytes(kInBytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i % 251);
  device.upload(in, bytes);
  Launched launched;
  launched.out.resize(kThreads);
  try {
    Binder binder(device);
    binder.launch<TestKernel<Body>>(
        {2, 1}, {binder.pointer<const std::byte>(in), binder.pointer<uint32_t>(out)});
    device.read_back(out, std::as_writable_bytes(std::span(launched.out)));
    device.synchronise();
  } catch (const SimtFault& fault) {
    launched.error = fault.what();
    launched.kind = fault.kind();
  }
  return launched;
}

std::vector<Schedule> schedules() {
  std::vector<Schedule> all = {{Schedule::Order::kAscending, 0}, {Schedule::Order::kDescending, 0}};
  for (uint64_t seed = 1; seed <= 8; ++seed) all.push_back({Schedule::Order::kRandom, seed});
  return all;
}

/// The fault is found and named alike in every order of lanes and warps.
template <class Body>
void expect_fault(FaultKind kind, const std::string& words) {
  for (const Schedule& schedule : schedules()) {
    const Launched launched = launch<Body>(schedule);
    ASSERT_NE(launched.error, "") << "not found, seed " << schedule.seed;
    EXPECT_EQ(launched.kind, kind) << launched.error;
    EXPECT_THAT(launched.error, HasSubstr(words));
  }
}

template <class Body>
void expect_values(const std::function<uint32_t(uint32_t)>& value) {
  for (const Schedule& schedule : schedules()) {
    const Launched launched = launch<Body>(schedule);
    ASSERT_EQ(launched.error, "");
    for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(launched.out[i], value(i));
  }
}

template <bool kBarrier>
struct Exchange {
  static void run(const Args& args, Shared shared) {
    shared.store(thread(), static_cast<uint32_t>(thread()));
    if (kBarrier) sync_threads();
    args.out.store(thread(), shared.load(neighbour()));
  }
};

TEST(HostExecutor, FindsAMissingBarrierBeforeARead) {
  for (const Schedule& schedule : schedules()) {
    const Launched launched = launch<Exchange<false>>(schedule);
    // Whichever lane comes first: a read of another lane's word, of a word nobody wrote yet, or a
    // write to a word that was read.
    EXPECT_TRUE(launched.kind == FaultKind::kRace ||
                launched.kind == FaultKind::kUninitialisedShared);
    EXPECT_NE(launched.error, "");
  }
}

TEST(HostExecutor, PassesTheSameKernelWithTheBarrier) {
  expect_values<Exchange<true>>([](uint32_t i) { return (i + 1) % kThreads; });
}

template <bool kBarrier>
struct Overwrite {
  static void run(const Args& args, Shared shared) {
    shared.store(thread(), static_cast<uint32_t>(thread()));
    sync_threads();
    args.out.store(thread(), shared.load(neighbour()));
    if (kBarrier) sync_threads();
    shared.store(thread(), 7);
  }
};

TEST(HostExecutor, FindsAMissingBarrierBeforeAnOverwrite) {
  expect_fault<Overwrite<false>>(FaultKind::kRace, "with no barrier between");
}

TEST(HostExecutor, PassesAnOverwriteBehindABarrier) {
  expect_values<Overwrite<true>>([](uint32_t i) { return (i + 1) % kThreads; });
}

struct WriteWrite {
  static void run(const Args&, Shared shared) { shared.store(0, 1); }
};

TEST(HostExecutor, FindsTwoLanesWritingOneWord) {
  expect_fault<WriteWrite>(FaultKind::kRace, "writes shared byte 0, which thread");
}

template <bool kSync>
struct WarpExchange {
  static void run(const Args& args, Shared shared) {
    const int other = thread() ^ 1;
    shared.store(thread(), static_cast<uint32_t>(thread()));
    if (kSync) sync_warp();
    args.out.store(thread(), shared.load(other));
    if (kSync) sync_warp();
    shared.store(other, 0);
  }
};

TEST(HostExecutor, AcceptsSyncWarpInsideAWarp) {
  expect_values<WarpExchange<true>>([](uint32_t i) { return i ^ 1u; });
}

struct WarpSyncAcrossWarps {
  static void run(const Args& args, Shared shared) {
    shared.store(thread(), 1);
    sync_warp();
    args.out.store(thread(), shared.load((thread() + 32) % kThreads));
  }
};

TEST(HostExecutor, DoesNotTakeSyncWarpForABarrierBetweenWarps) {
  for (const Schedule& schedule : schedules()) {
    EXPECT_NE(launch<WarpSyncAcrossWarps>(schedule).error, "");
  }
}

struct Uninitialised {
  static void run(const Args& args, Shared shared) {
    args.out.store(thread(), shared.load(thread()));
  }
};

TEST(HostExecutor, FindsAReadOfUninitialisedSharedMemory) {
  expect_fault<Uninitialised>(FaultKind::kUninitialisedShared, "which nothing wrote");
}

enum class Async { kComplete, kNoWait, kWaitForOlder, kNoBarrier, kNoCommit };

template <Async kMode>
struct AsyncCopy {
  static void run(const Args& args, Shared shared) {
    const auto slots = shared.cast<Words4>();
    cp_async_16(slots + thread(), args.in + 16 * thread());
    if (kMode != Async::kNoCommit) cp_async_commit();
    if (kMode == Async::kWaitForOlder) cp_async_wait<1>();
    if (kMode == Async::kComplete || kMode == Async::kNoBarrier || kMode == Async::kNoCommit) {
      cp_async_wait<0>();
    }
    if (kMode != Async::kNoBarrier) sync_threads();
    args.out.store(thread(), shared.load(4 * neighbour()) & 0xFFu);
  }
};

TEST(HostExecutor, PassesAnAsyncCopyWithWaitAndBarrier) {
  expect_values<AsyncCopy<Async::kComplete>>(
      [](uint32_t i) { return 16 * ((i + 1) % kThreads) % 251; });
}

TEST(HostExecutor, FindsAMissingWait) {
  expect_fault<AsyncCopy<Async::kNoWait>>(FaultKind::kAsyncNotWaited, "the destination of");
}

TEST(HostExecutor, FindsAWaitThatLeavesTheGroupInFlight) {
  expect_fault<AsyncCopy<Async::kWaitForOlder>>(FaultKind::kAsyncNotWaited, "the destination of");
}

TEST(HostExecutor, FindsAGroupThatWasNeverCommitted) {
  expect_fault<AsyncCopy<Async::kNoCommit>>(FaultKind::kAsyncNotWaited, "the destination of");
}

TEST(HostExecutor, FindsAMissingBarrierBehindAWait) {
  for (const Schedule& schedule : schedules()) {
    EXPECT_NE(launch<AsyncCopy<Async::kNoBarrier>>(schedule).error, "");
  }
}

struct DivergentBarrier {
  static void run(const Args&, Shared) {
    if (thread() < 16) sync_threads();
  }
};

TEST(HostExecutor, NamesTheLanesOfADivergentBarrier) {
  expect_fault<DivergentBarrier>(FaultKind::kDivergentBarrier, "threads 16-63 have returned");
  expect_fault<DivergentBarrier>(FaultKind::kDivergentBarrier, "threads 0-15 wait at the barrier");
}

struct TwoBarriers {
  static void run(const Args&, Shared) {
    if (thread() % 2 == 0) {
      sync_threads();
    } else {
      sync_threads();
    }
  }
};

TEST(HostExecutor, FindsTwoBarriersThatMeet) {
  expect_fault<TwoBarriers>(FaultKind::kDivergentBarrier, "wait at the barrier at");
}

struct DivergentShuffle {
  static void run(const Args&, Shared) {
    if (lane() != 5) shuffle(1, 0);
  }
};

TEST(HostExecutor, FindsAWarpOperationThatOneLaneSkips) {
  expect_fault<DivergentShuffle>(FaultKind::kDivergentCollective, "wait at shuffle");
}

struct DifferentCollectives {
  static void run(const Args&, Shared) {
    if (lane() < 16) {
      shuffle(1, 0);
    } else {
      sync_warp();
    }
  }
};

TEST(HostExecutor, FindsTwoWarpOperationsThatMeet) {
  expect_fault<DifferentCollectives>(FaultKind::kDivergentCollective, "wait at sync_warp");
}

template <int kOffset>
struct Load16 {
  static void run(const Args& args, Shared) {
    args.out.store(thread(), (args.in + kOffset).cast<const Words4>().load().w[0]);
  }
};

TEST(HostExecutor, FindsAMisaligned16ByteLoad) {
  expect_fault<Load16<24>>(FaultKind::kMisaligned, "reads 16 bytes at byte 24 of plane");
}

TEST(HostExecutor, FindsAReadBeyondThePlane) {
  expect_fault<Load16<4096>>(FaultKind::kOutOfBounds,
                             "reads 16 bytes at byte 4096 of plane (4096 bytes)");
}

TEST(HostExecutor, FindsAReadBeforeThePlane) {
  expect_fault<Load16<-16>>(FaultKind::kOutOfBounds, "at byte -16 of plane");
}

struct MisalignedAsync {
  static void run(const Args& args, Shared shared) {
    cp_async_16(shared.cast<Words4>() + thread(), args.in + 8, 4);
  }
};

TEST(HostExecutor, FindsAMisalignedAsyncSource) {
  expect_fault<MisalignedAsync>(FaultKind::kMisaligned, "copies 4 bytes at byte 8 of plane");
}

struct ZeroSizeAsync {
  static void run(const Args& args, Shared shared) {
    cp_async_16(shared.cast<Words4>() + thread(), args.in + (1 << 20), 0);
    cp_async_commit();
    cp_async_wait<0>();
    args.out.store(thread(), shared.load(4 * thread()));
  }
};

TEST(HostExecutor, DoesNotCheckTheSourceOfACopyOfSizeZero) {
  expect_values<ZeroSizeAsync>([](uint32_t) { return 0u; });
}

struct SharedBeyond {
  static void run(const Args& args, Shared shared) {
    args.out.store(thread(), shared.load(4 * kThreads));
  }
};

TEST(HostExecutor, FindsAReadBeyondSharedMemory) {
  expect_fault<SharedBeyond>(FaultKind::kOutOfBounds, "of shared memory (1024 bytes)");
}

struct WriteBeyond {
  static void run(const Args& args, Shared) { args.out.store(thread() + 1, 0); }
};

TEST(HostExecutor, FindsAWriteBeyondTheOutput) {
  expect_fault<WriteBeyond>(FaultKind::kOutOfBounds, "writes 4 bytes at byte 256 of out");
}

TEST(HostExecutor, RunsCleanKernelsAfterAFailedBlockWasAbandoned) {
  for (int round = 0; round < 50; ++round) {
    EXPECT_NE(launch<DivergentBarrier>({}).error, "");
    EXPECT_EQ(launch<Exchange<true>>({}).error, "");
  }
}

struct Throws {
  static void run(const Args&, Shared) {
    if (thread() == 40) throw std::runtime_error("from a lane");
    sync_threads();
  }
};

TEST(HostExecutor, CarriesALanesExceptionToSynchronise) {
  EXPECT_THROW(launch<Throws>({}), std::runtime_error);
}

}  // namespace
}  // namespace planegate::simt
