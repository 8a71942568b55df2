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
#include "cli/judge_apart.h"
#include "cli/mutants_text.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "mutants/mutants.h"

namespace planegate::cli {
namespace {

/// od*id*nt up to which the host executor runs the shapes of other projects.
constexpr int64_t kMostTermsOnHost = int64_t{1} << 25;
constexpr int64_t kMostTermsOnCuda = int64_t{1} << 31;

int64_t most_terms(DeviceKind kind) {
  return kind == DeviceKind::kHost ? kMostTermsOnHost : kMostTermsOnCuda;
}

/// The places in `all` of the arms whose names hold `only`.
std::vector<size_t> chosen(const std::vector<gates::Arm>& all, const std::string& only) {
  std::vector<size_t> indices;
  std::vector<std::string> names;
  for (size_t i = 0; i < all.size(); ++i) {
    names.push_back(all[i].name);
    if (all[i].name.find(only) != std::string::npos) indices.push_back(i);
  }
  if (!indices.empty()) return indices;
  throw CommandError(kWrongUse, fmt::format("--only {}: no arm's name holds it; nearest: {}", only,
                                            fmt::join(nearest(only, names), ", ")));
}

/// Plants all arms, several at once, each worker with devices and caches of its own.
class Planting {
 public:
  /// The arms at `indices` of the corpus `all`.
  Planting(const std::vector<gates::Arm>& all, std::vector<size_t> indices, DeviceKind kind,
           bool judges)
      : all_(all),
        indices_(std::move(indices)),
        kind_(kind),
        judges_(judges),
        rows_(indices_.size()) {}

  std::vector<MutantRow> run(int threads) {
#pragma omp parallel num_threads(threads)
    work();
    progress_.clear();
    if (error_) std::rethrow_exception(error_);
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].result.arm == nullptr) rows_[i].result = unreached(all_[indices_[i]]);
    }
    return std::move(rows_);
  }

 private:
  gates::ArmResult unreached(const gates::Arm& arm) const {
    gates::ArmResult result;
    result.arm = &arm;
    result.told = "the device was lost before it";
    result.must_name = arm.words_on(kind_);
    result.device_lost = true;
    return result;
  }

  void work() {
    omp_set_num_threads(1);
    gates::IncumbentBench bench(catalog_, kind_, most_terms(kind_));
    for (size_t i = next_++; i < indices_.size(); i = next_++) {
      const gates::Arm& arm = all_[indices_[i]];
      try {
        rows_[i].result = gates::run_arm(catalog_, arm, kind_);
        const bool lost = rows_[i].result.device_lost;
        if (lost) next_ = indices_.size();
        if (judges_ && !lost) {
          rows_[i].judged =
              kind_ == DeviceKind::kCuda ? judged_apart(indices_[i]) : bench.judge(arm);
        }
      } catch (...) {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
        next_ = indices_.size();
      }
      const std::lock_guard lock(mutex_);
      progress_.show(fmt::format("{} of {} arms: {}", i + 1, indices_.size(), arm.name));
    }
  }

  const Catalog catalog_ = catalog_with_known_bad();
  const std::vector<gates::Arm>& all_;
  const std::vector<size_t> indices_;
  DeviceKind kind_;
  bool judges_;
  std::vector<MutantRow> rows_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
  Progress progress_;
};

/// The answer to judged_apart().
ExitCode judge_one(const std::vector<gates::Arm>& all, int64_t index, DeviceKind kind) {
  if (index < 0 || index >= static_cast<int64_t>(all.size())) {
    throw CommandError(kWrongUse,
                       fmt::format("--judge-arm {}: must be from 0 to {}", index, all.size() - 1));
  }
  const Catalog catalog = catalog_with_known_bad();
  gates::IncumbentBench bench(catalog, kind, most_terms(kind));
  print_judged(bench.judge(all.at(static_cast<size_t>(index))));
  return kVerified;
}

}  // namespace

ExitCode mutants(const MutantsArguments& arguments) {
  const auto device = choose_device(arguments.device);
  std::optional<ReplacingFile> json;
  open_output("--json", arguments.json, {}, json);
  const std::vector<gates::Arm> all = mutants::all_arms();
  if (arguments.judge_arm) return judge_one(all, *arguments.judge_arm, device->kind());
  std::vector<size_t> indices = chosen(all, arguments.only);
  fmt::print("device {}: {}\n\n", device->name(), device->description());
  const std::vector<MutantRow> rows =
      Planting(all, std::move(indices), device->kind(), arguments.judges)
          .run(omp_get_max_threads());
  gates::Score score;
  bool expected = true;
  for (const MutantRow& row : rows) {
    score.add(row.result);
    expected = expected && row.result.as_expected();
  }
  const ExitCode code = !expected ? kGateFailed : score.killed == 0 ? kNothingVerified : kVerified;
  fmt::print("{}\n", mutants_table(rows));
  if (arguments.judges) {
    const Catalog catalog = catalog_with_known_bad();
    const gates::IncumbentBench bench(catalog, device->kind(), most_terms(device->kind()));
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
