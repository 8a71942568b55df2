#pragma once

#include <string>
#include <vector>

#include <planegate/core/hash.h>

#include "catalog/catalog.h"
#include "gates/verify.h"

/// What the tests of the gates share.
namespace planegate {

/// A synthetic weight tensor of a registered format, with the scales of a quantiser.
struct SampleTensor {
  SampleTensor(const Catalog& catalog, const std::string& format, const Shape& shape,
               uint64_t seed = 1)
      : bytes(static_cast<size_t>(catalog.format(format)->size_bytes(shape))),
        raw{"sample.weight", format, shape, bytes} {
    catalog.format(format)->sample(shape, seed, bytes);
  }
  SampleTensor(const SampleTensor&) = delete;
  SampleTensor& operator=(const SampleTensor&) = delete;

  std::vector<std::byte> bytes;
  RawTensor raw;
};

/// nsb 1, 2, 3 and more; od 1, odd, around tiles; tails of tokens.
inline std::vector<Shape> gate_shapes() {
  return {Shape(1, 256, 1),    Shape(2, 256, 1),    Shape(1, 512, 1),    Shape(3, 512, 2),
          Shape(7, 768, 9),    Shape(70, 512, 3),   Shape(129, 256, 65), Shape(257, 768, 17),
          Shape(64, 2048, 64), Shape(17, 1792, 33), Shape(65, 1280, 8)};
}

inline const GateReport* find_report(const std::vector<GateReport>& reports,
                                     const std::string& gate, const std::string& subject) {
  for (const GateReport& report : reports) {
    if (report.gate == gate && report.subject == subject) return &report;
  }
  return nullptr;
}

}  // namespace planegate
