#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/mutants_text.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "mutants/mutants.h"

namespace planegate::cli {
namespace {

/// od*id*nt up to which the host executor runs the shapes of other projects.
constexpr int64_t kMostTermsOnHost = int64_t{1} << 25;
constexpr int64_t kMostTermsOnCuda = int64_t{1} << 31;

std::vector<gates::Arm> chosen_arms(const std::string& only) {
  std::vector<gates::Arm> arms;
  std::vector<std::string> names;
  for (gates::Arm& arm : mutants::all_arms()) {
    names.push_back(arm.name);
    if (arm.name.find(only) != std::string::npos) arms.push_back(std::move(arm));
  }
  if (!arms.empty()) return arms;
  throw CommandError(kWrongUse, fmt::format("--only {}: no arm's name holds it; nearest: {}", only,
                                            fmt::join(nearest(only, names), ", ")));
}

/// Plants all arms, several at once, each worker with devices and caches of its own.
class Planting {
 public:
  Planting(const std::vector<gates::Arm>& arms, DeviceKind kind, bool judges)
      : arms_(arms), kind_(kind), judges_(judges), rows_(arms.size()) {}

  std::vector<MutantRow> run(int threads) {
#pragma omp parallel num_threads(threads)
    work();
    progress_.clear();
    if (error_) std::rethrow_exception(error_);
    return std::move(rows_);
  }

  int64_t most_terms() const {
    return kind_ == DeviceKind::kHost ? kMostTermsOnHost : kMostTermsOnCuda;
  }
  const Catalog& catalog() const {
    return catalog_;
  }

 private:
  void work() {
    omp_set_num_threads(1);
    gates::IncumbentBench bench(catalog_, kind_, most_terms());
    for (size_t i = next_++; i < arms_.size(); i = next_++) {
      try {
        rows_[i].result = gates::run_arm(catalog_, arms_[i], kind_);
        if (judges_) rows_[i].judged = bench.judge(arms_[i]);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
        next_ = arms_.size();
      }
      const std::lock_guard lock(mutex_);
      progress_.show(fmt::format("{} of {} arms: {}", i + 1, arms_.size(), arms_[i].name));
    }
  }

  const Catalog catalog_ = catalog_with_known_bad();
  const std::vector<gates::Arm>& arms_;
  DeviceKind kind_;
  bool judges_;
  std::vector<MutantRow> rows_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
  Progress progress_;
};

}  // namespace

ExitCode mutants(const MutantsArguments& arguments) {
  const auto device = choose_device(arguments.device);
  std::optional<ReplacingFile> json;
  open_output("--json", arguments.json, {}, json);
  const std::vector<gates::Arm> arms = chosen_arms(arguments.only);
  fmt::print("device {}: {}\n\n", device->name(), device->description());
  Planting planting(arms, device->kind(), arguments.judges);
  const std::vector<MutantRow> rows = planting.run(omp_get_max_threads());
  gates::Score score;
  bool expected = true;
  for (const MutantRow& row : rows) {
    score.add(row.result);
    expected = expected && row.result.as_expected();
  }
  const ExitCode code = !expected ? kGateFailed : score.killed == 0 ? kNothingVerified : kVerified;
  fmt::print("{}\n", mutants_table(rows));
  if (arguments.judges) {
    const gates::IncumbentBench bench(planting.catalog(), device->kind(), planting.most_terms());
    fmt::print("{}\n", judges_table(rows, bench));
  }
  fmt::print("{}\n{}\n", mutants_misses(rows), score.text());
  if (json) {
    const std::string text = mutants_json(device->name(), device->description(), rows, code);
    json->append(std::as_bytes(std::span(text)));
    json->commit();
  }
  return code;
}

}  // namespace planegate::cli
