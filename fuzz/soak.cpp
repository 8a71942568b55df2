#include "fuzz/soak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <vector>

#include <omp.h>
#include <rapidcheck.h>

#include "fuzz/run_case.h"

namespace planegate::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// Deals numbers of generated data to the workers, in order, and cuts the last to the number of
/// cases that was asked for.
class Dealer {
 public:
  explicit Dealer(const SoakPlan& plan) : plan_(plan), started_(Clock::now()) {}

  struct Hand {
    int64_t number = 0;
    Case c;
    std::vector<const ConsumerSpec*> consumers;
  };

  /// The next piece of this shard; nullopt at the end.
  std::optional<Hand> next() {
    const std::lock_guard lock(mutex_);
    while (!stopped_ && !over()) {
      Hand hand{next_++, {}, {}};
      hand.c = plan_.generator.at(hand.number);
      hand.consumers = plan_.generator.consumers(hand.c.shape);
      if (plan_.cases) {
        const int64_t left = *plan_.cases - dealt_;
        hand.consumers.resize(std::min(hand.consumers.size(), static_cast<size_t>(left)));
      }
      dealt_ += std::ssize(hand.consumers);
      if (plan_.shard.has(hand.number) && !hand.consumers.empty()) return hand;
    }
    return std::nullopt;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

 private:
  bool over() const {
    return (plan_.cases && dealt_ >= *plan_.cases) ||
           (plan_.seconds && seconds() >= *plan_.seconds);
  }

  const SoakPlan& plan_;
  Clock::time_point started_;
  std::mutex mutex_;
  int64_t next_ = 0;
  int64_t dealt_ = 0;
  bool stopped_ = false;
};

/// What all workers add to.
class Tally {
 public:
  Tally(const SoakPlan& plan, Dealer& dealer) : plan_(plan), dealer_(dealer) {}

  void add(const Dealer::Hand& hand, const std::vector<GateReport>& reports) {
    const std::lock_guard lock(mutex_);
    ++result_.tensors;
    result_.seconds = dealer_.seconds();
    result_.histogram.add(hand.c.shape, std::ssize(reports));
    for (const GateReport& report : reports) {
      result_.skipped += report.verdict == Verdict::kSkipped;
      if (report.verdict != Verdict::kFail) continue;
      ++result_.red;
      dealer_.stop();
      if (report.device_lost) {
        result_.lost.push_back(case_file(hand.c, report));
        continue;
      }
      if (hand.number >= first_red_) continue;
      first_red_ = hand.number;
      result_.first_red = case_file(hand.c, report);
    }
    plan_.on_progress(result_.histogram.cases());
  }
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    dealer_.stop();
  }
  SoakResult finish() {
    if (error_) std::rethrow_exception(error_);
    return std::move(result_);
  }

 private:
  const SoakPlan& plan_;
  Dealer& dealer_;
  std::mutex mutex_;
  SoakResult result_;
  int64_t first_red_ = std::numeric_limits<int64_t>::max();
  std::exception_ptr error_;
};

void work(const SoakPlan& plan, Dealer& dealer, Tally& tally) {
  // One thread a worker: the workers share the cores among themselves.
  omp_set_num_threads(1);
  try {
    const std::unique_ptr<Device> device = plan.make_device();
    while (const auto hand = dealer.next()) {
      tally.add(*hand, run_case(plan.catalog, *device, hand->c, hand->consumers));
    }
  } catch (...) {
    tally.fail(std::current_exception());
  }
}

}  // namespace

SoakResult soak(const SoakPlan& plan) {
  Dealer dealer(plan);
  Tally tally(plan, dealer);
  // Threads of OpenMP live on: each keeps its lanes' stacks for the next run.
#pragma omp parallel num_threads(plan.threads)
  work(plan, dealer, tally);
  return tally.finish();
}

CaseFile shrunk(const SoakPlan& plan, Device& device, const CaseFile& red) {
  const ConsumerSpec* consumer = plan.catalog.consumer(red.consumer);
  CaseFile smallest = red;
  const auto still_red = [&](const Case& c) {
    if (consumer->refusal(c.shape)) return false;
    const GateReport report = run_case(plan.catalog, device, c, {consumer}).front();
    if (report.verdict != Verdict::kFail) return false;
    smallest = case_file(c, report);
    return true;
  };
  auto shrinks = plan.generator.shrinkable(red.c).shrinks();
  for (auto next = shrinks.next(); next; next = shrinks.next()) {
    if (still_red(next->value())) shrinks = next->shrinks();
  }
  return case_file(smallest.c, explained_case(plan.catalog, device, smallest.c, *consumer));
}

}  // namespace planegate::fuzz
