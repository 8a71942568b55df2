#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/case_file.h"
#include "fuzz/generator.h"
#include "fuzz/shard.h"

namespace planegate::fuzz {

/// How many cases had each value of od, nsb and nt.
class Histogram {
 public:
  void add(const Shape& shape, int64_t cases);

  /// The values of `generator` that fewer than 1 % of the cases have: `nsb 74 (0.40 %)`.
  std::vector<std::string> rare(const Generator& generator) const;
  int64_t cases() const { return cases_; }
  /// By value; axis 0, 1, 2: od, nsb, nt.
  const std::map<int64_t, int64_t>& axis(int i) const { return axes_[static_cast<size_t>(i)]; }

 private:
  std::array<std::map<int64_t, int64_t>, 3> axes_;
  int64_t cases_ = 0;
};

/// What to run. A case is one shape and seed with one consumer; all consumers that take a shape
/// share its data. The cases of all shards together are those without shards.
struct SoakPlan {
  const Catalog& catalog;
  const Generator& generator;
  std::optional<int64_t> cases;   ///< of all shards together
  std::optional<double> seconds;  ///< no new data after this long
  Shard shard;
  int threads = 1;  ///< each with a device of its own
  std::function<std::unique_ptr<Device>()> make_device;
  /// Called after each piece of data with the cases so far; from one thread at a time.
  std::function<void(int64_t cases)> on_progress = [](int64_t) {};
};

struct SoakResult {
  Histogram histogram;
  int64_t tensors = 0;
  int64_t red = 0;
  int64_t skipped = 0;
  double seconds = 0;  ///< from the start to the end of the last case
  /// Of the red cases the first by number, with its report.
  std::optional<CaseFile> first_red;
  /// The cases that were under way when the device was lost: one of them is to blame.
  std::vector<CaseFile> lost;
};

/// Runs a plan until its end or the first red case.
/// @throws what a device or the oracle threw outside of a run of a consumer.
SoakResult soak(const SoakPlan& plan);

/// The smallest case that is red as well, by RapidCheck's shrinking: `red.consumer` alone.
CaseFile shrunk(const SoakPlan& plan, Device& device, const CaseFile& red);

/// Histogram, counts, cases a second, seed and device, in lines; stable but for the times.
std::string summary(const SoakPlan& plan, const SoakResult& result, const std::string& device);

}  // namespace planegate::fuzz
