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

void require_folder(const std::string& folder) {
  std::error_code none;
  if (fs::is_directory(folder, none)) return;
  throw CommandError(kWrongUse, fmt::format("--out {}: is no folder", folder));
}

/// `OUT/planegate-case-s1-w_exp-cp_async.json`
std::string write_case(const std::string& folder, uint64_t seed, const fuzz::CaseFile& file) {
  std::string name = fmt::format("planegate-case-s{}-{}.json", seed, file.consumer);
  std::replace(name.begin(), name.end(), '/', '-');
  const fs::path path = output_file("--out", (fs::path(folder) / name).string());
  const std::string json = fuzz::to_json(file, PLANEGATE_VERSION);
  ReplacingFile out(path);
  out.append(std::as_bytes(std::span(json)));
  out.commit();
  return path.string();
}

void report_red(const FuzzArguments& arguments, const fuzz::SoakPlan& plan, Device& device,
                const fuzz::CaseFile& red) {
  fmt::print("\nred: {} {}, part {}: {}\nshrinking ...\n", red.consumer, fuzz::text(red.c),
             red.part, red.diagnosis);
  const fuzz::CaseFile smallest = fuzz::shrunk(plan, device, red);
  const std::string path = write_case(arguments.out, arguments.seed, smallest);
  fmt::print("smallest: {} {}, part {}: {}\nrepeat: planegate replay {} --device {}\n",
             smallest.consumer, fuzz::text(smallest.c), smallest.part, smallest.diagnosis, path,
             device.name());
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
