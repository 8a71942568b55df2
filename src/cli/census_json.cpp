#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/census_report.h"
#include "cli/commands.h"

namespace planegate::cli {
namespace {

using Json = nlohmann::ordered_json;

Json plane_json(const perf::CensusPlane& plane) {
  Json json = {{"plane", plane.contract->name},
               {"bytes", plane.bytes},
               {"contract", fmt::format("{:016x}", plane.contract->hash())},
               {"generation", plane.generation}};
  for (const std::string& consumer : plane.consumers) json["consumers"].push_back(consumer);
  return json;
}

Json tensor_json(const perf::CensusTensor& tensor, const std::vector<perf::CensusPlane>& planes) {
  Json json = {{"tensor", tensor.name},
               {"format", tensor.format},
               {"od", tensor.shape.od()},
               {"id", tensor.shape.id()},
               {"encoded_bytes", tensor.encoded_bytes}};
  for (const perf::CensusPlane& plane : planes) json["planes"].push_back(plane_json(plane));
  return json;
}

Json plan_json(const Census& census) {
  const perf::VramPlan& plan = *census.plan;
  Json json = {{"vram_bytes", *census.vram_bytes},
               {"used_bytes", plan.used_bytes},
               {"left_bytes", *census.vram_bytes - plan.used_bytes}};
  for (size_t i = 0; i < plan.choices.size(); ++i) {
    const perf::PlaneChoice& choice = plan.choices[i];
    if (choice.consumer == nullptr) {
      json["left_out"].push_back(census.tensors[i].name);
      continue;
    }
    Json one = {{"tensor", census.tensors[i].name},
                {"consumer", choice.consumer->name},
                {"bytes", choice.bytes}};
    for (const Contract* plane : choice.planes) one["planes"].push_back(plane->name);
    json["tensors"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string census_json(const Census& census, int exit_code) {
  Json device = {{"name", census.device}, {"description", census.device_description}};
  if (census.memory) {
    device["free_bytes"] = census.memory->free_bytes;
    device["total_bytes"] = census.memory->total_bytes;
  }
  Json json = {{"schema", kCensusSchema},
               {"planegate", PLANEGATE_VERSION},
               {"model", census.model},
               {"device", std::move(device)},
               {"nt", census.nt},
               {"exit_code", exit_code},
               {"plane_bytes", census.plane_bytes()}};
  for (size_t i = 0; i < census.tensors.size(); ++i) {
    json["tensors"].push_back(tensor_json(census.tensors[i], census.planes[i]));
  }
  for (const auto& [type, count] : census.without_planes) {
    json["without_planes"].push_back(
        {{"type", type}, {"tensors", count.tensors}, {"bytes", count.bytes}});
  }
  for (const auto& plane : census.planes_without_reader) {
    json["planes_without_reader"].push_back(plane);
  }
  for (const auto& field : census.unread_fields) json["unread_fields"].push_back(field);
  for (const auto& reader : census.ungated) {
    json["ungated_readers"].push_back({{"consumer", reader.consumer}, {"reason", reader.reason}});
  }
  if (census.plan) json["plan"] = plan_json(census);
  // Names come from files: what is no UTF-8 is replaced, not refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace planegate::cli
