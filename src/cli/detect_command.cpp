#include <algorithm>

#include <fmt/format.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/named_consumers.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "gates/detectability.h"

namespace planegate::cli {
namespace {

/// The named consumer, or all.
std::vector<const ConsumerSpec*> wanted_consumers(const Catalog& catalog, const std::string& name) {
  if (!name.empty()) return named_consumers(catalog, "--consumer", {name});
  std::vector<const ConsumerSpec*> all;
  for (const ConsumerSpec& consumer : catalog.consumers()) all.push_back(&consumer);
  return all;
}

std::string refusal(const ConsumerSpec& consumer, const Device& device, const Shape& shape) {
  if (auto nowhere = device.refusal(consumer)) return *nowhere;
  const auto broken = consumer.refusal(shape);
  return broken ? "needs " + *broken : "";
}

std::vector<const ConsumerSpec*> runnable(const std::vector<const ConsumerSpec*>& wanted,
                                          const Device& device, const Shape& shape) {
  std::vector<const ConsumerSpec*> found;
  std::string why;
  for (const ConsumerSpec* consumer : wanted) {
    const std::string refused = refusal(*consumer, device, shape);
    if (refused.empty()) found.push_back(consumer);
    if (why.empty() && !refused.empty()) why = consumer->name + " " + refused;
  }
  if (!found.empty()) return found;
  throw CommandError(kNothingVerified,
                     fmt::format("nothing was verified at {}: {}", shape.text(), why));
}

std::string lattice_cell(const gates::PlantedFault& fault, size_t lattices) {
  if (fault.lattices.empty()) return "blind";
  return fmt::format("seen by {} of {}", fault.lattices.size(), lattices);
}

}  // namespace

std::string detect_text(const gates::Detectability& found) {
  std::string out =
      fmt::format("{} {} on {}\n\n", found.consumer, found.shape.text(), found.device);
  if (!found.faults.empty()) {
    std::vector<std::vector<std::string>> rows = {{"fault", "lattice", "bound"}};
    for (const gates::PlantedFault& fault : found.faults) {
      rows.push_back(
          {fault.text, lattice_cell(fault, found.lattices.size()), fault.bound ? "seen" : "blind"});
    }
    out += table(rows) + "\n";
  }
  return out + found.sentence() + "\n";
}

ExitCode detect(const DetectArguments& arguments) {
  const Catalog& catalog = shipped_catalog();
  const Shape shape = shape_of(arguments.od, arguments.id, arguments.nt);
  const auto wanted = wanted_consumers(catalog, arguments.consumer);
  const auto device = choose_device(arguments.device);
  gates::Context context{catalog, *device, arguments.seed};
  bool complete = true;
  for (const ConsumerSpec* consumer : runnable(wanted, *device, shape)) {
    Progress progress;
    const auto found = gates::detectability(context, *consumer, shape, {},
                                            [&](const std::string& what) { progress.show(what); });
    progress.clear();
    fmt::print("{}\n", detect_text(found));
    complete = complete && found.complete();
  }
  return complete ? kVerified : kGateFailed;
}

}  // namespace planegate::cli
