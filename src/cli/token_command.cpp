#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/model_shapes.h"
#include "cli/named_consumers.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "fuzz/soak.h"
#include "gates/perf/token.h"
#include "gates/perf/utc.h"
#include "gates/verify.h"

namespace planegate::cli {
namespace {

/// Of the arguments, or of the model that they name.
std::vector<Shape> shapes_of(const Catalog& catalog, const TokenArguments& a) {
  if (a.model.empty() != (a.od && a.id)) {
    throw CommandError(kWrongUse, "either --od and --id, or --replay MODEL");
  }
  if (a.model.empty()) return {shape_of(*a.od, *a.id, a.nt)};
  const GgufModel model = GgufModel::open(a.model);
  return distinct_shapes(gemm_tensors(catalog, model), a.nt);
}

/// All gates of the consumers at one shape, on a tensor made for it.
std::vector<GateReport> gates_at(gates::Context& context, const std::string& format,
                                 const std::vector<std::string>& consumers, const Shape& shape) {
  const FormatOracle& oracle = *context.catalog.format(format);
  std::vector<std::byte> bytes(static_cast<size_t>(oracle.size_bytes(shape)));
  oracle.sample(shape, context.seed, bytes);
  gates::Selection selection{{}, consumers};
  selection.dispatch = true;
  Progress progress;
  const auto reports = gates::verify_tensor(
      context, {"sample " + shape.text(), format, shape, bytes}, selection,
      [&](const GateReport& report) {
        progress.clear();
        if (report.verdict == Verdict::kFail) fmt::print("{}\n", text(report));
      },
      [&](const std::string& what) { progress.show(what); });
  progress.clear();
  return reports;
}

perf::Sweep swept(const Catalog& catalog, Device& device, const std::string& format,
                  const TokenArguments& a) {
  const fuzz::Generator generator(catalog, format, a.consumers, {257, 8, 130, 120}, a.seed);
  const fuzz::SoakPlan plan{catalog, generator, a.cases, std::nullopt, fuzz::Shard{}, 1, [&] {
                              return choose_device(device.name());
                            }};
  const fuzz::SoakResult result = fuzz::soak(plan);
  fmt::print("sweep: {} cases, {} red, {} skipped\n", result.histogram.cases(), result.red,
             result.skipped);
  if (!result.lost.empty()) throw perf::Refused("no token: " + result.lost.front().diagnosis);
  if (result.first_red) {
    throw perf::Refused(fmt::format("no token: the sweep is red: {} {}: {}",
                                    result.first_red->consumer, fuzz::text(result.first_red->c),
                                    result.first_red->diagnosis));
  }
  if (result.skipped > 0 || result.histogram.cases() == 0) {
    throw perf::Refused(fmt::format("no token: the sweep ran {} cases and skipped {}",
                                    result.histogram.cases(), result.skipped));
  }
  return {result.histogram.cases(), a.seed, a.consumers};
}

perf::Token minted(const Catalog& catalog, Device& device, const TokenArguments& a) {
  const auto consumers = named_consumers(catalog, "--consumer", a.consumers);
  const std::string& format = consumers.front()->format;
  gates::Context context{catalog, device, a.seed};
  perf::Token token;
  token.provenance = perf::provenance_of(device);
  std::vector<GateReport> all;
  for (const Shape& shape : shapes_of(catalog, a)) {
    const auto reports = gates_at(context, format, a.consumers, shape);
    // Each shape has its members: what is skipped at one is not made up for at another.
    const auto members = perf::members_of(catalog, a.consumers, reports);
    token.members.insert(token.members.end(), members.begin(), members.end());
    token.shapes.push_back(shape.text());
    all.insert(all.end(), reports.begin(), reports.end());
  }
  fmt::print("{}\n", report_table(all));
  token.contracts = perf::contract_hashes(catalog, a.consumers);
  token.consumers = perf::consumer_hashes(catalog, a.consumers);
  token.sweep = swept(catalog, device, format, a);
  token.minted = perf::utc_now();
  return token;
}

}  // namespace

ExitCode token(const TokenArguments& arguments) {
  const Catalog& catalog = shipped_catalog();
  named_consumers(catalog, "--consumer", arguments.consumers);
  std::optional<ReplacingFile> file;
  open_output("OUT", arguments.path, arguments.model, file);
  const auto device = choose_device(arguments.device);
  fmt::print("device {}: {}\n\n", device->name(), device->description());
  try {
    const perf::Token token = minted(catalog, *device, arguments);
    const std::string json = perf::to_json(token);
    file->append(std::as_bytes(std::span(json)));
    file->commit();
    fmt::print("{}: token {} for {}, good for {} hours\n", arguments.path, token.digest(),
               fmt::join(token.shapes, "; "), perf::kTokenHours);
  } catch (const perf::Refused& refused) {
    throw CommandError(kNothingVerified, refused.what());
  }
  return kVerified;
}

}  // namespace planegate::cli
