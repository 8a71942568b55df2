#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>

#include <planegate/simt/block_pool.h>

namespace planegate::simt {
namespace {

class Job {
 public:
  Job(int64_t count, const std::function<void(int64_t)>& work) : count_(count), work_(work) {}

  void drain() {
    for (int64_t i = next_++; i < count_ && i < first_failed_; i = next_++) {
      try {
        work_(i);
      } catch (...) {
        note_failure(i);
      }
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void note_failure(int64_t i) {
    const std::lock_guard lock(mutex_);
    if (i > first_failed_) return;
    first_failed_ = i;
    error_ = std::current_exception();
  }

  const int64_t count_;
  const std::function<void(int64_t)>& work_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> first_failed_{std::numeric_limits<int64_t>::max()};
  std::mutex mutex_;
  std::exception_ptr error_;
};

class Helpers {
 public:
  /// Never destroyed: helpers sleep in it when the process ends.
  static Helpers& instance() {
    static Helpers* const helpers = new Helpers;
    return *helpers;
  }

  /// False when they work for another caller.
  bool drain(Job& job, int helpers) {
    if (taken_.exchange(true)) return false;
    invite(job, helpers);
    job.drain();
    std::unique_lock lock(mutex_);
    invitations_ = 0;
    all_left_.wait(lock, [this] { return working_ == 0; });
    taken_ = false;
    return true;
  }

 private:
  void invite(Job& job, int helpers) {
    {
      const std::lock_guard lock(mutex_);
      start(helpers);
      job_ = &job;
      invitations_ = helpers;
    }
    invited_.notify_all();
  }

  void start(int helpers) {
    try {
      for (; started_ < helpers; ++started_) std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) {
      // The system has no more threads: those that there are take all the work.
    }
  }

  [[noreturn]] void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      invited_.wait(lock, [this] { return invitations_ > 0; });
      --invitations_;
      ++working_;
      Job& job = *job_;
      lock.unlock();
      job.drain();
      lock.lock();
      if (--working_ == 0) all_left_.notify_one();
    }
  }

  std::atomic<bool> taken_{false};
  std::mutex mutex_;
  std::condition_variable invited_;
  std::condition_variable all_left_;
  Job* job_ = nullptr;
  int invitations_ = 0;
  int working_ = 0;
  int started_ = 0;
};

}  // namespace

void for_each_block(int64_t count, int threads, const std::function<void(int64_t)>& work) {
  Job job(count, work);
  const auto helpers = static_cast<int>(std::min<int64_t>(count, threads)) - 1;
  if (helpers < 1 || !Helpers::instance().drain(job, helpers)) job.drain();
  job.rethrow();
}

}  // namespace planegate::simt
