#include "cli/model_shapes.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "cli/exit_code.h"

namespace planegate::cli {
namespace {

/// N of `blk.N.ffn_down.weight`; what belongs to no block comes last.
int64_t block_of(const std::string& name) {
  constexpr std::string_view kPrefix = "blk.";
  int64_t block = std::numeric_limits<int64_t>::max();
  if (name.starts_with(kPrefix)) {
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), block);
  }
  return block;
}

}  // namespace

std::vector<const ModelTensor*> gemm_tensors(const Catalog& catalog, const GgufModel& model) {
  // Rows of it are looked up, never multiplied, unless it is the output's matrix as well.
  const bool looked_up = model.tensor("output.weight") != nullptr;
  std::vector<const ModelTensor*> tensors;
  for (const ModelTensor& tensor : model.tensors()) {
    const FormatOracle* format = catalog.format(tensor.entry->type->name);
    const bool weights = format != nullptr && format->role == Role::kWeights;
    const bool embedding = looked_up && tensor.name() == "token_embd.weight";
    if (weights && !embedding) tensors.push_back(&tensor);
  }
  if (tensors.empty()) {
    throw CommandError(kNothingVerified, "the model has no tensor of a registered weight format");
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const ModelTensor* a, const ModelTensor* b) {
    return block_of(a->name()) < block_of(b->name());
  });
  return tensors;
}

std::vector<Shape> distinct_shapes(const std::vector<const ModelTensor*>& tensors, int64_t nt) {
  std::vector<Shape> shapes;
  for (const ModelTensor* tensor : tensors) {
    const Shape shape = tensor->raw().shape.with_tokens(nt);
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace planegate::cli
