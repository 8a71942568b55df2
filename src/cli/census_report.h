#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gates/perf/vram_plan.h"

namespace planegate::cli {

/// Tensors that have no planes here, by type.
struct WithoutPlanes {
  int64_t tensors = 0;
  int64_t bytes = 0;
};

/// A model's census.
struct Census {
  std::string model;
  std::string device, device_description;
  std::optional<DeviceMemory> memory;
  int64_t nt = 1;
  std::vector<perf::CensusTensor> tensors;
  std::vector<std::vector<perf::CensusPlane>> planes;  ///< of each tensor
  std::map<std::string, WithoutPlanes> without_planes;
  std::vector<std::string> planes_without_reader, unread_fields;
  std::vector<perf::UngatedReader> ungated;
  std::optional<int64_t> vram_bytes;
  std::optional<perf::VramPlan> plan;

  /// All planes of all tensors at once.
  int64_t plane_bytes() const;
};

/// The JSON form; every member is described in docs/census-schema.md.
std::string census_json(const Census& census, int exit_code);

}  // namespace planegate::cli
