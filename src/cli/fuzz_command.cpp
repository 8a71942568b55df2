#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/gguf/replacing_file.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/named_consumers.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "fuzz/soak.h"

namespace planegate::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultCases = 200;
constexpr const char* kFormat = "q6_K";

/// What a wrong setting says, as wrong use.
template <class Make>
auto settings(Make make) {
  try {
    return make();
  } catch (const ContractError& error) {
    throw CommandError(kWrongUse, error.what());
  }
}

/// A folder in which a file can be made: no case is found before it can be kept.
void require_folder(const std::string& folder) {
  std::error_code none;
  if (!fs::is_directory(folder, none)) {
    throw CommandError(kWrongUse, fmt::format("--out {}: is no folder", folder));
  }
  std::optional<ReplacingFile> trial;
  open_output("--out", (fs::path(folder) / "planegate-case.json").string(), {}, trial);
}

/// `OUT/planegate-case-s1-w_exp-cp_async.json`, and how to repeat it. What cannot be kept there is
/// printed.
std::string kept(const std::string& folder, const std::string& label, const fuzz::CaseFile& file,
                 const Device& device) {
  std::string name = fmt::format("planegate-case-{}-{}.json", label, file.consumer);
  std::replace(name.begin(), name.end(), '/', '-');
  const fs::path path = fs::path(folder) / name;
  const std::string json = fuzz::to_json(file, PLANEGATE_VERSION);
  try {
    std::optional<ReplacingFile> out;
    open_output("--out", path.string(), {}, out);
    out->append(std::as_bytes(std::span(json)));
    out->commit();
  } catch (const std::exception& error) {
    return fmt::format("not kept: {}; the case:\n{}", error.what(), json);
  }
  return fmt::format("repeat: planegate replay {} --device {}", path.string(), device.name());
}

void report_red(const FuzzArguments& arguments, const fuzz::SoakPlan& plan, Device& device,
                const fuzz::CaseFile& red) {
  fmt::print("\nred: {} {}, part {}: {}\nshrinking ...\n", red.consumer, fuzz::text(red.c),
             red.part, red.diagnosis);
  const fuzz::CaseFile smallest = fuzz::shrunk(plan, device, red);
  fmt::print("smallest: {} {}, part {}: {}\n{}\n", smallest.consumer, fuzz::text(smallest.c),
             smallest.part, smallest.diagnosis,
             kept(arguments.out, fmt::format("s{}", arguments.seed), smallest, device));
}

/// Nothing shrinks on a device that is gone: all cases that were under way are kept as they are.
void report_lost(const FuzzArguments& arguments, const std::vector<fuzz::CaseFile>& lost,
                 const Device& device) {
  fmt::print(
      "\nred: {}\none of these {} cases, which were under way, is to blame; each needs a "
      "process of its own:\n",
      lost.front().diagnosis, lost.size());
  for (size_t i = 0; i < lost.size(); ++i) {
    const std::string label = fmt::format("s{}-lost{}", arguments.seed, i + 1);
    fmt::print("{} {}\n{}\n", lost[i].consumer, fuzz::text(lost[i].c),
               kept(arguments.out, label, lost[i], device));
  }
}

int threads_of(const FuzzArguments& arguments) {
  if (arguments.threads) return static_cast<int>(*arguments.threads);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

ExitCode fuzz_cases(const FuzzArguments& arguments) {
  const Catalog catalog = arguments.known_bad ? catalog_with_known_bad() : shipped_catalog();
  named_consumers(catalog, "--consumer", arguments.consumers);
  require_folder(arguments.out);
  if (arguments.seconds && !(*arguments.seconds > 0)) {
    throw CommandError(kWrongUse,
                       fmt::format("--seconds {}: must be a number above 0", *arguments.seconds));
  }
  const fuzz::Shard shard = settings(fuzz::shard_from_environment);
  const fuzz::Generator generator = settings([&] {
    return fuzz::Generator(catalog, kFormat, arguments.consumers,
                           {arguments.max_od, arguments.max_nsb, arguments.max_nt, 120},
                           arguments.seed);
  });
  const auto device = choose_device(arguments.device);
  const std::string where = fmt::format("device {}: {}", device->name(), device->description());
  fmt::print("{}\n\n", where);
  Progress progress;
  fuzz::SoakPlan plan{catalog,
                      generator,
                      arguments.cases,
                      arguments.seconds,
                      shard,
                      threads_of(arguments),
                      [&] { return choose_device(device->name()); },
                      [&, shown = std::chrono::steady_clock::time_point{}](int64_t cases) mutable {
                        const auto now = std::chrono::steady_clock::now();
                        if (now - shown < std::chrono::milliseconds(100)) return;
                        shown = now;
                        progress.show(fmt::format("{} cases", cases));
                      }};
  if (!plan.cases && !plan.seconds) plan.cases = kDefaultCases;
  const fuzz::SoakResult result = fuzz::soak(plan);
  progress.clear();
  fmt::print("{}", fuzz::summary(plan, result, where));
  if (!result.lost.empty()) {
    report_lost(arguments, result.lost, *device);
    return kGateFailed;
  }
  if (result.first_red) {
    report_red(arguments, plan, *device, *result.first_red);
    return kGateFailed;
  }
  if (result.histogram.cases() == 0) {
    throw CommandError(kNothingVerified, "nothing was verified: no case is in this shard");
  }
  return result.skipped == 0 ? kVerified : kNothingVerified;
}

}  // namespace planegate::cli
