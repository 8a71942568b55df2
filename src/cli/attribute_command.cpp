#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <planegate/core/errors.h>

#include "catalog/catalog.h"
#include "cli/attribute_text.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/input_content.h"
#include "cli/run_program.h"
#include "gates/consumer_run.h"
#include "gates/dataset.h"

namespace planegate::cli {
namespace {

namespace fs = std::filesystem;

/// Both pages of one launch.
struct Pages {
  std::string source_name, source, raw_name, raw;
};

struct Booked {
  perf::SourceProfile source;
  perf::Attribution found;
};

Pages pages_of(const std::string& source, const std::string& raw, const std::string& of_source,
               const std::string& of_raw) {
  return {source, input_content(of_source, source), raw, input_content(of_raw, raw)};
}

Booked booked(const Pages& pages, double work) {
  try {
    Booked one{perf::parsed_source_page(pages.source_name, pages.source), {}};
    one.found = attribute(one.source, perf::parsed_raw_page(pages.raw_name, pages.raw), work);
    return one;
  } catch (const perf::ProfileError& error) {
    throw CommandError(kBadInput, error.what());
  } catch (const perf::AttributionRefused& error) {
    throw CommandError(kNothingVerified,
                       fmt::format("{}, {}: {}", pages.source_name, pages.raw_name, error.what()));
  }
}

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = fs::temp_directory_path() / "planegate-ncu-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw fs::filesystem_error("cannot make a folder", name, {errno, std::generic_category()});
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string ncu_output(const std::string& ncu, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ncu);
  const ProgramRun ran = run_program(arguments);
  if (ran.status == 0) return ran.out;
  const std::string said = ran.err + ran.out;
  const size_t last = said.size() > 800 ? said.size() - 800 : 0;
  throw CommandError(
      kNothingVerified,
      fmt::format("{} did not profile{}; give its place with --ncu, on a machine "
                  "with a GPU whose counters may be read:\n{}",
                  ncu, ran.status < 0 ? " (it did not run)" : "", said.substr(last)));
}

/// Profiles one launch in a process of its own.
Pages profiled(const AttributeArguments& a) {
  const TemporaryFolder folder;
  const std::string report = folder.path() / "launch";
  ncu_output(a.ncu, {"--force-overwrite",
                     "--export",
                     report,
                     "--section",
                     "SourceCounters",
                     "--section",
                     "WarpStateStats",
                     "--clock-control",
                     "none",
                     "--kernel-name",
                     "regex:" + a.kernel,
                     "--launch-count",
                     "1",
                     fs::read_symlink("/proc/self/exe").string(),
                     "attribute",
                     "--one-launch",
                     "--consumer",
                     a.consumer,
                     "--od",
                     std::to_string(*a.od),
                     "--id",
                     std::to_string(*a.id),
                     "--nt",
                     std::to_string(*a.nt)});
  const auto page = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"--import", report + ".ncu-rep", "--csv", "--page"});
    return ncu_output(a.ncu, options);
  };
  return {"source page of " + a.consumer, page({"source", "--print-source", "sass"}),
          "raw page of " + a.consumer, page({"raw"})};
}

const ConsumerSpec& consumer_named(const std::string& name) {
  const ConsumerSpec* found = shipped_catalog().consumer(name);
  if (found != nullptr) return *found;
  std::vector<std::string> names;
  for (const ConsumerSpec& one : shipped_catalog().consumers()) names.push_back(one.name);
  throw CommandError(kWrongUse, fmt::format("--consumer {}: no such name; nearest: {}", name,
                                            fmt::join(nearest(name, names), ", ")));
}

Shape shape_of(const AttributeArguments& a, const ConsumerSpec& consumer) {
  if (!a.od || !a.id || !a.nt) {
    throw CommandError(kWrongUse, "--consumer needs --od, --id and --nt");
  }
  try {
    const Shape shape(*a.od, *a.id, *a.nt);
    if (const auto broken = consumer.refusal(shape)) {
      throw CommandError(kWrongUse, fmt::format("{} needs {}", consumer.name, *broken));
    }
    return shape;
  } catch (const ContractError& error) {
    throw CommandError(kWrongUse, error.what());
  }
}

const FormatOracle& activation_format(const Catalog& catalog) {
  for (const FormatOracle& format : catalog.formats()) {
    if (format.role == Role::kActivations && format.lattice != nullptr) return format;
  }
  throw CommandError(kNothingVerified, "no format of activations is registered");
}

/// What the profiler looks at.
ExitCode launch_once(const ConsumerSpec& consumer, const Shape& shape) {
  const auto device = choose_device("cuda");
  const Catalog& catalog = shipped_catalog();
  gates::Context context{catalog, *device};
  gates::Dataset dataset =
      gates::make_dataset(context, shape, gates::lattices(shape).front(),
                          *catalog.format(consumer.format), activation_format(catalog));
  dataset.ensure_planes(consumer);
  const gates::ConsumerRun ran = gates::run(context, consumer, dataset);
  if (!ran.failure.empty()) throw CommandError(kNothingVerified, ran.failure);
  return kVerified;
}

Booked measured(const AttributeArguments& a) {
  if (a.consumer.empty()) {
    if (a.from.empty() || a.raw.empty()) {
      throw CommandError(kWrongUse, "needs --from with --raw, or --consumer");
    }
    return booked(pages_of(a.from, a.raw, "--from", "--raw"), a.work);
  }
  return booked(profiled(a), a.work);
}

}  // namespace

ExitCode attribute(const AttributeArguments& arguments) {
  if (!arguments.consumer.empty()) {
    const ConsumerSpec& consumer = consumer_named(arguments.consumer);
    const Shape shape = shape_of(arguments, consumer);
    if (arguments.one_launch) return launch_once(consumer, shape);
  }
  const auto most = static_cast<size_t>(arguments.top);
  const Booked one = measured(arguments);
  std::string text = attribution_text(one.source, one.found, most);
  if (!arguments.against.empty()) {
    const Booked other =
        booked(pages_of(arguments.against.at(0), arguments.against.at(1), "--against", "--against"),
               arguments.against_work);
    text += "\n" + attribution_text(other.source, other.found, most);
    try {
      text += "\n" + comparison_text(compare(one.found, other.found));
    } catch (const perf::AttributionRefused& error) {
      throw CommandError(kNothingVerified, error.what());
    }
  }
  fmt::print("{}", text);
  return kVerified;
}

}  // namespace planegate::cli
