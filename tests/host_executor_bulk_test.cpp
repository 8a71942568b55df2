#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/simt/launch_host.h>

/// What the executor demands of bulk copies and of the barriers that count them.
namespace planegate::simt {
namespace {

using testing::HasSubstr;

enum class Flaw {
  kNone,
  kNoInit,
  kInitTwice,
  kNoBarrierBehindInit,
  kNoFence,
  kNoWait,
  kNobodyReads,
  kOneThreadWaits,
  kOneThreadWaitsBehindABarrier,
  kPhaseBefore,
  kSecondPhaseOfOne,
  kExpectsLess,
  kExpectsMore,
  kArrivalMissing,
  kStoresInFlight,
  kNoBarrierBehindReads,
  kCopiesOverReads,
  kMisalignedSource,
  kBeyondSource,
  kMisalignedDestination,
  kBeyondShared,
  kNotWholePieces,
};

constexpr int kThreads = 64;
constexpr int kBytes = kThreads * 16;

/// Two copies one after the other; thread i adds up the first words of piece i of both.
struct Kernel {
  static constexpr int kThreads = simt::kThreads;
  static constexpr int kMinBlocks = 1;
  struct Shared {
    Words4 to[simt::kThreads];
    Barrier full[1];
  };
  struct Args {
    GlobalPtr<const Words4> in;  // (2, kThreads)
    GlobalPtr<uint32_t> out;     // (kThreads)
    Flaw flaw;
  };

  static void run(const Args& args, SharedRef<Shared> shared) {
    const Flaw flaw = args.flaw;
    const auto full = shared.at(&Shared::full);
    const bool first = thread() == 0;
    if (first && flaw != Flaw::kNoInit) {
      barrier_init(full, flaw == Flaw::kArrivalMissing ? 2 : 1);
    }
    if (first && flaw == Flaw::kInitTwice) barrier_init(full, 1);
    if (first && flaw != Flaw::kNoFence) fence_async();
    if (flaw != Flaw::kNoBarrierBehindInit) sync_threads();
    uint32_t sum = 0;
    for (int phase = 0; phase < 2; ++phase) sum += copied(args, shared, phase);
    args.out.store(thread(), sum);
  }

  static uint32_t copied(const Args& args, SharedRef<Shared> shared, int phase) {
    const Flaw flaw = args.flaw;
    const auto to = shared.at(&Shared::to);
    if (flaw == Flaw::kNobodyReads && phase == 1) return 0;
    if (flaw == Flaw::kCopiesOverReads) {
      to.store(thread(), Words4{});
      sync_threads();
      (void)to.load(thread());
    }
    if (thread() == 0) issue(args, shared, phase);
    if (flaw == Flaw::kStoresInFlight) to.store(thread(), Words4{});
    if (flaw == Flaw::kNobodyReads) return 0;
    wait(flaw, shared.at(&Shared::full), phase);
    const uint32_t word = to.load(thread()).w[0];
    if (flaw != Flaw::kNoBarrierBehindReads) sync_threads();
    return word;
  }

  static void issue(const Args& args, SharedRef<Shared> shared, int phase) {
    const Flaw flaw = args.flaw;
    const auto full = shared.at(&Shared::full);
    const int off = flaw == Flaw::kExpectsLess ? -16 : flaw == Flaw::kExpectsMore ? 16 : 0;
    barrier_arrive_expect(full, kBytes + off);
    const int further = flaw == Flaw::kBeyondShared ? 32 : 0;
    auto to = shared.at(&Shared::to) + further;
    if (flaw == Flaw::kMisalignedDestination) to = (to.cast<uint32_t>() + 1).cast<Words4>();
    auto from = args.in + (phase * kThreads + (flaw == Flaw::kBeyondSource ? kThreads + 1 : 0));
    if (flaw == Flaw::kMisalignedSource) {
      from = (from.cast<const uint32_t>() + 1).cast<const Words4>();
    }
    bulk_copy(to, from, flaw == Flaw::kNotWholePieces ? 24 : kBytes, full);
  }

  static void wait(Flaw flaw, SharedPtr<Barrier> full, int phase) {
    const bool alone = flaw == Flaw::kOneThreadWaits || flaw == Flaw::kOneThreadWaitsBehindABarrier;
    const int early = flaw == Flaw::kPhaseBefore ? 1 : 0;
    const int parity = flaw == Flaw::kSecondPhaseOfOne ? 0 : phase;
    if (flaw != Flaw::kNoWait && (!alone || thread() == 40)) barrier_wait(full, parity ^ early);
    if (flaw == Flaw::kOneThreadWaitsBehindABarrier) sync_threads();
  }
};

struct Launched {
  std::vector<uint32_t> out = std::vector<uint32_t>(kThreads);
  std::string error;
  FaultKind kind{};
};

Launched launch(Flaw flaw, Schedule schedule = {}) {
  HostDevice device;
  device.set_schedule(schedule);
  const DeviceBuffer in = device.allocate("in", 2 * kBytes);
  const DeviceBuffer out = device.allocate("out", 4 * kThreads);
  std::vector<uint32_t> words(2 * kBytes / 4);
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>(i);
  device.upload(in, std::as_bytes(std::span(words)));
  Launched launched;
  try {
    Binder binder(device);
    binder.launch<Kernel>({1, 1},
                          {binder.pointer<const Words4>(in), binder.pointer<uint32_t>(out), flaw});
    device.read_back(out, std::as_writable_bytes(std::span(launched.out)));
    device.synchronise();
  } catch (const SimtFault& fault) {
    launched.error = fault.what();
    launched.kind = fault.kind();
  }
  return launched;
}

void expect_fault(Flaw flaw, FaultKind kind, const std::string& words, Schedule schedule = {}) {
  const Launched launched = launch(flaw, schedule);
  ASSERT_NE(launched.error, "") << "not found";
  EXPECT_EQ(launched.kind, kind) << launched.error;
  EXPECT_THAT(launched.error, HasSubstr(words));
}

void expect_copied(Flaw flaw, Schedule schedule = {}) {
  const Launched launched = launch(flaw, schedule);
  ASSERT_EQ(launched.error, "");
  for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(launched.out[i], 4 * i + 4 * i + 256) << i;
}

/// The second warp first as well: it waits for a copy that nobody has issued.
TEST(HostExecutorBulk, BringsWhatIsWaitedForInEveryOrder) {
  expect_copied(Flaw::kNone);
  expect_copied(Flaw::kNone, {Schedule::Order::kDescending});
  expect_copied(Flaw::kNone, {Schedule::Order::kRandom, 7});
}

TEST(HostExecutorBulk, ShowsItBehindABarrierThatFollowsOneWait) {
  expect_copied(Flaw::kOneThreadWaitsBehindABarrier);
}

TEST(HostExecutorBulk, FindsABarrierThatNobodyMade) {
  expect_fault(Flaw::kNoInit, FaultKind::kUninitialisedShared, "which nothing wrote");
}

TEST(HostExecutorBulk, FindsABarrierMadeTwice) {
  expect_fault(Flaw::kInitTwice, FaultKind::kRace, "initialises the barrier at shared byte 1024");
}

TEST(HostExecutorBulk, FindsABarrierUsedBeforeItIsSeen) {
  expect_fault(Flaw::kNoBarrierBehindInit, FaultKind::kRace, "which thread 0 wrote");
}

TEST(HostExecutorBulk, FindsABarrierThatNoFenceShows) {
  expect_fault(Flaw::kNoFence, FaultKind::kNotFenced, "with no fence_async since");
}

TEST(HostExecutorBulk, FindsReadsThatWaitForNoPhase) {
  expect_fault(Flaw::kNoWait, FaultKind::kAsyncNotWaited, "the destination of a bulk copy");
  expect_fault(Flaw::kOneThreadWaits, FaultKind::kAsyncNotWaited, "the destination of a bulk copy");
}

TEST(HostExecutorBulk, FindsStoresToWhatIsOnItsWay) {
  expect_fault(Flaw::kStoresInFlight, FaultKind::kAsyncNotWaited, "writes shared byte");
}

TEST(HostExecutorBulk, FindsACopyOverWhatOthersRead) {
  expect_fault(Flaw::kCopiesOverReads, FaultKind::kRace, "read with no barrier between",
               {Schedule::Order::kDescending});
}

TEST(HostExecutorBulk, FindsCopiesThatOutliveTheBlock) {
  expect_fault(Flaw::kNobodyReads, FaultKind::kAsyncNotWaited, "ends with bulk copies in flight");
}

TEST(HostExecutorBulk, FindsPhasesThatNothingCompletes) {
  for (const Flaw flaw :
       {Flaw::kExpectsLess, Flaw::kExpectsMore, Flaw::kArrivalMissing, Flaw::kPhaseBefore,
        Flaw::kSecondPhaseOfOne, Flaw::kNoBarrierBehindReads}) {
    expect_fault(flaw, FaultKind::kEndlessWait, "wait for a phase at host_executor_bulk_test.cpp:");
  }
}

TEST(HostExecutorBulk, FindsCopiesThatAreMisplaced) {
  expect_fault(Flaw::kMisalignedSource, FaultKind::kMisaligned, "of in (2048 bytes)");
  expect_fault(Flaw::kBeyondSource, FaultKind::kOutOfBounds, "of in (2048 bytes)");
  expect_fault(Flaw::kMisalignedDestination, FaultKind::kMisaligned, "copies to 1024 bytes");
  expect_fault(Flaw::kBeyondShared, FaultKind::kOutOfBounds, "copies to 1024 bytes");
  expect_fault(Flaw::kNotWholePieces, FaultKind::kMisaligned, "copies to 24 bytes");
}

}  // namespace
}  // namespace planegate::simt
