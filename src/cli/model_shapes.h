#pragma once

#include <string>
#include <vector>

#include <planegate/core/catalog.h>
#include <planegate/gguf/model.h>

namespace planegate::cli {

/// The tensors of `model` in a registered weight format, in the order in which a pass through the
/// layers meets them.
/// @throws CommandError(kNothingVerified) where it has none.
std::vector<const ModelTensor*> gemm_tensors(const Catalog& catalog, const GgufModel& model);

/// Shapes of these tensors at `nt` tokens, each once.
std::vector<Shape> distinct_shapes(const std::vector<const ModelTensor*>& tensors, int64_t nt);

}  // namespace planegate::cli
