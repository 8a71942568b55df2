#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planegate/core/errors.h>
#include <planegate/gguf/model.h>

#include "catalog/catalog.h"
#include "cli/byte_size.h"
#include "cli/census_report.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/table.h"

namespace planegate::cli {

int64_t Census::plane_bytes() const {
  int64_t bytes = 0;
  for (const auto& of_tensor : planes) {
    for (const perf::CensusPlane& plane : of_tensor) bytes += plane.bytes;
  }
  return bytes;
}

namespace {

using Rows = std::vector<std::vector<std::string>>;

bool has_planes(const Catalog& catalog, const GgufTensor& tensor) {
  const FormatOracle* format = catalog.format(tensor.type->name);
  return format != nullptr && format->role == Role::kWeights;
}

Census taken(const Catalog& catalog, const GgufModel& model, const CensusArguments& arguments,
             Device& device) {
  Census census;
  census.model = arguments.model;
  census.device = device.name();
  census.device_description = device.description();
  census.memory = device.memory();
  census.nt = arguments.nt;
  for (const ModelTensor& tensor : model.tensors()) {
    if (!has_planes(catalog, *tensor.entry)) {
      WithoutPlanes& count = census.without_planes[tensor.entry->type->name];
      ++count.tensors;
      count.bytes += tensor.entry->size_bytes;
      continue;
    }
    const RawTensor raw = tensor.raw();
    const Shape shape = raw.shape.with_tokens(arguments.nt);
    census.tensors.push_back({raw.name, raw.format, shape, std::ssize(raw.bytes)});
    census.planes.push_back(perf::planes_of(catalog, census.tensors.back()));
  }
  census.planes_without_reader = perf::planes_without_reader(catalog);
  census.unread_fields = perf::unread_fields(catalog);
  census.ungated = perf::ungated_readers(catalog);
  census.vram_bytes = arguments.vram_bytes;
  if (census.vram_bytes) {
    census.plan = perf::planned(catalog, device, census.tensors, *census.vram_bytes);
  }
  return census;
}

std::string plane_rows(const Census& census) {
  Rows rows = {{"tensor", "od x id", "plane", "bytes", "contract", "generation", "readers"}};
  for (size_t i = 0; i < census.tensors.size(); ++i) {
    const perf::CensusTensor& tensor = census.tensors[i];
    bool first = true;
    for (const perf::CensusPlane& plane : census.planes[i]) {
      rows.push_back({first ? tensor.name : "",
                      first ? fmt::format("{} x {}", tensor.shape.od(), tensor.shape.id()) : "",
                      plane.contract->format + "/" + plane.contract->name,
                      std::to_string(plane.bytes), fmt::format("{:016x}", plane.contract->hash()),
                      std::to_string(plane.generation), std::to_string(plane.consumers.size())});
      first = false;
    }
  }
  return table(rows);
}

/// Who reads each plane: one line for all tensors whose planes have the same readers.
std::string reader_rows(const Census& census) {
  std::map<std::pair<std::string, std::vector<std::string>>, int64_t> tensors;
  for (const auto& of_tensor : census.planes) {
    for (const perf::CensusPlane& plane : of_tensor) {
      ++tensors[{plane.contract->format + "/" + plane.contract->name, plane.consumers}];
    }
  }
  Rows rows = {{"plane", "tensors", fmt::format("read at nt={} by", census.nt)}};
  for (const auto& [key, count] : tensors) {
    rows.push_back(
        {key.first, std::to_string(count),
         key.second.empty() ? "nobody" : fmt::format("{}", fmt::join(key.second, ", "))});
  }
  return table(rows);
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string findings(const Census& census) {
  std::vector<std::string> ungated;
  for (const perf::UngatedReader& reader : census.ungated) {
    ungated.push_back(fmt::format("{} ({})", reader.consumer, reader.reason));
  }
  return fmt::format(
      "planes without a reader at any nt: {}\nfields that nobody reads at any nt: {}\n"
      "readers without a gate: {}\n",
      listed(census.planes_without_reader), listed(census.unread_fields), listed(ungated));
}

std::string memory_text(const Census& census) {
  std::string out = fmt::format("all planes at once: {}\n", byte_text(census.plane_bytes()));
  for (const auto& [type, count] : census.without_planes) {
    out += fmt::format("no planes: {} of {} tensors, {}\n", type, count.tensors,
                       byte_text(count.bytes));
  }
  if (!census.memory) {
    return out + fmt::format("device {}: has no memory of its own\n", census.device);
  }
  return out + fmt::format("device {}: {} free of {}; all planes {}\n", census.device,
                           byte_text(census.memory->free_bytes),
                           byte_text(census.memory->total_bytes),
                           census.plane_bytes() <= census.memory->free_bytes ? "fit" : "don't fit");
}

std::string plan_text(const Census& census) {
  const perf::VramPlan& plan = *census.plan;
  Rows rows = {{"tensor", "planes", "bytes", "consumer"}};
  std::vector<std::string> left_out;
  for (size_t i = 0; i < plan.choices.size(); ++i) {
    const perf::PlaneChoice& choice = plan.choices[i];
    if (choice.consumer == nullptr) {
      left_out.push_back(census.tensors[i].name);
      continue;
    }
    std::vector<std::string> planes;
    for (const Contract* plane : choice.planes) planes.push_back(plane->name);
    rows.push_back({census.tensors[i].name, fmt::format("{}", fmt::join(planes, " + ")),
                    std::to_string(choice.bytes), choice.consumer->name});
  }
  return fmt::format(
      "\nwithin {} at nt={}:\n{}used: {}\nleft: {}\nwithout planes on the device: {}\n",
      byte_text(*census.vram_bytes), census.nt, table(rows), byte_text(plan.used_bytes),
      byte_text(*census.vram_bytes - plan.used_bytes), listed(left_out));
}

}  // namespace

ExitCode census(const CensusArguments& arguments) {
  const Catalog& catalog = shipped_catalog();
  std::optional<ReplacingFile> json;
  open_output("--json", arguments.json, arguments.model, json);
  const auto device = choose_device(arguments.device);
  const GgufModel model = GgufModel::open(arguments.model);
  require_no_part("--json", arguments.json, model);
  const Census census = taken(catalog, model, arguments, *device);
  if (census.tensors.empty()) {
    throw CommandError(kNothingVerified,
                       fmt::format("{}: no tensor of a registered weight format", arguments.model));
  }
  const ExitCode code = census.ungated.empty() ? kVerified : kGateFailed;
  if (json) {
    const std::string text = census_json(census, code);
    json->append(std::as_bytes(std::span(text)));
    json->commit();
  }
  fmt::print("{}\n{}\n{}{}", plane_rows(census), reader_rows(census), findings(census),
             memory_text(census));
  if (census.plan) fmt::print("{}", plan_text(census));
  return code;
}

}  // namespace planegate::cli
