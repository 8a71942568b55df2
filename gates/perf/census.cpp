#include "gates/perf/census.h"

#include <algorithm>
#include <optional>

#include <planegate/core/errors.h>
#include <planegate/store/plane_store.h>

namespace planegate::perf {
namespace {

bool same(const Contract& a, const Contract& b) {
  return a.format == b.format && a.name == b.name;
}

bool reads(const ConsumerSpec& consumer, const Contract& plane) {
  return std::any_of(consumer.reads.begin(), consumer.reads.end(),
                     [&](const FieldUse& use) { return same(*use.plane, plane); });
}

bool reads(const ConsumerSpec& consumer, const Contract& plane, const std::string& field) {
  return std::any_of(consumer.reads.begin(), consumer.reads.end(), [&](const FieldUse& use) {
    return same(*use.plane, plane) &&
           std::find(use.fields.begin(), use.fields.end(), field) != use.fields.end();
  });
}

bool has_reader(const Catalog& catalog, const Contract& plane) {
  return std::any_of(catalog.consumers().begin(), catalog.consumers().end(),
                     [&](const ConsumerSpec& consumer) { return reads(consumer, plane); });
}

bool has_mirror(const Catalog& catalog, const Contract& plane) {
  try {
    catalog.mirror(plane);
    return true;
  } catch (const ContractError&) {
    return false;
  }
}

std::optional<std::string> missing_gate(const Catalog& catalog, const ConsumerSpec& consumer) {
  if (catalog.format(consumer.format) == nullptr) {
    return "format " + consumer.format + " has no oracle";
  }
  for (const FieldUse& use : consumer.reads) {
    if (catalog.producer(use.plane->name) == nullptr) {
      return "plane " + use.plane->name + " has no producer";
    }
    if (!has_mirror(catalog, *use.plane)) return "plane " + use.plane->name + " has no mirror";
  }
  if (consumer.launches.empty()) return "it runs on no device of this build";
  return std::nullopt;
}

}  // namespace

std::vector<CensusPlane> planes_of(const Catalog& catalog, const CensusTensor& tensor) {
  std::vector<CensusPlane> planes;
  for (const Contract* contract : catalog.planes()) {
    if (contract->role != Role::kWeights || contract->format != tensor.format) continue;
    CensusPlane plane{contract, contract->size_bytes(tensor.shape), kFirstGeneration, {}};
    for (const ConsumerSpec& consumer : catalog.consumers()) {
      if (reads(consumer, *contract) && !consumer.refusal(tensor.shape)) {
        plane.consumers.push_back(consumer.name);
      }
    }
    planes.push_back(std::move(plane));
  }
  return planes;
}

std::vector<std::string> planes_without_reader(const Catalog& catalog) {
  std::vector<std::string> found;
  for (const Contract* plane : catalog.planes()) {
    if (!has_reader(catalog, *plane)) found.push_back(plane->format + "/" + plane->name);
  }
  return found;
}

std::vector<std::string> unread_fields(const Catalog& catalog) {
  std::vector<std::string> found;
  for (const Contract* plane : catalog.planes()) {
    if (!has_reader(catalog, *plane)) continue;
    for (const Field& field : plane->fields) {
      const bool read = std::any_of(
          catalog.consumers().begin(), catalog.consumers().end(),
          [&](const ConsumerSpec& consumer) { return reads(consumer, *plane, field.name); });
      if (!read) found.push_back(plane->format + "/" + plane->name + "." + field.name);
    }
  }
  return found;
}

std::vector<UngatedReader> ungated_readers(const Catalog& catalog) {
  std::vector<UngatedReader> found;
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    if (const auto reason = missing_gate(catalog, consumer)) {
      found.push_back({consumer.name, *reason});
    }
  }
  return found;
}

}  // namespace planegate::perf
