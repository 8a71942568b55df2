#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <planegate/core/catalog.h>
#include <planegate/devices/device.h>

/// The census: which planes a model's tensors have, who reads them, and what nobody reads or gates
/// (docs/census-schema.md).
namespace planegate::perf {

/// A weight tensor of a registered format.
struct CensusTensor {
  std::string name;
  std::string format;  ///< `q6_K`
  Shape shape{1, 1};   ///< (od, id), nt of the launches in question
  int64_t encoded_bytes = 0;
};

/// A plane as PlaneStore registers it for the first time.
struct CensusPlane {
  const Contract* contract = nullptr;
  int64_t bytes = 0;
  uint32_t generation = 0;
  std::vector<std::string> consumers;  ///< that read it and take the shape
};

/// The planes of a tensor, in order of registration. @throws ContractError where its shape does not
/// fit a plane of its format.
std::vector<CensusPlane> planes_of(const Catalog& catalog, const CensusTensor& tensor);

/// `q6_K/w_exp`, of weights and activations, that no consumer reads.
std::vector<std::string> planes_without_reader(const Catalog& catalog);
/// `q8_0/sda.sum`: fields that no consumer reads, of planes that have a reader.
std::vector<std::string> unread_fields(const Catalog& catalog);

struct UngatedReader {
  std::string consumer;
  std::string reason;  ///< `plane w_exp has no mirror`
};
/// Consumers without parity and chain on any device, or with a plane without mirror and readback: a
/// gate needs the oracle of the format, a mirror and a producer of each plane, and a launch.
std::vector<UngatedReader> ungated_readers(const Catalog& catalog);

}  // namespace planegate::perf
