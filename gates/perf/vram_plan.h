#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gates/perf/census.h"

namespace planegate::perf {

/// A consumer and the planes of weights that it needs.
struct PlaneChoice {
  const ConsumerSpec* consumer = nullptr;  ///< null: the tensor stays off the device
  std::vector<const Contract*> planes;
  int64_t bytes = 0;  ///< of these planes, each rounded up to kBufferAlignmentBytes
};

/// The choices for a tensor on a device: cheapest first, each next one dearer and read by a
/// consumer that Dispatch prefers. Choices that are no better than a cheaper one are left out.
std::vector<PlaneChoice> choices_of(const Catalog& catalog, const Device& device,
                                    const CensusTensor& tensor);

/// Points into the catalog, which must outlive it.
struct VramPlan {
  std::vector<PlaneChoice> choices;  ///< one a tensor, in their order
  int64_t used_bytes = 0;
};

/// Which planes each tensor gets within `vram_bytes`.
///
/// Greedy by benefit per byte. Benefit: places that a tensor's consumer moves up among its choices
/// (the first choice is one place above none), times the tensor's encoded bytes, which is what one
/// pass over the weights reads. First every tensor gets its cheapest choice, then dearer ones
/// replace them. Ties go to the tensor that comes first, then to the cheaper choice. What does not
/// fit is passed over.
/// @post used_bytes is the sum over choices and at most vram_bytes (VramPlan.AlwaysFits)
/// @pre vram_bytes >= 0, else ContractError
VramPlan planned(const Catalog& catalog, const Device& device,
                 const std::vector<CensusTensor>& tensors, int64_t vram_bytes);

}  // namespace planegate::perf
