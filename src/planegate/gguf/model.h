#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <planegate/gguf/name_order.h>
#include <planegate/gguf/reader.h>

namespace planegate {

/// A tensor of a model and the file that holds it.
struct ModelTensor {
  const GgufFile* file = nullptr;
  const GgufTensor* entry = nullptr;

  const std::string& name() const { return entry->name; }
  RawTensor raw() const { return file->raw(*entry); }
};

/// A GGUF model as a whole: one file, or all parts of a split.
///
/// A part says so in its metadata (`split.count` above 1, with `split.no` from 0 and
/// `split.tensors.count`) and in its name (`NAME-00002-of-00003.gguf`, from 1); the others stand
/// beside it. Every part is open, mapped, for the model's life. Views are valid as long as the
/// model, which may be moved.
/// Source: the split writers of ggml's gguf-split and of the Python package gguf.
class GgufModel {
 public:
  /// `path` is the file, or any part of the split.
  ///
  /// @post files() are all parts in order; no tensor name occurs twice; as many tensors as every
  ///       part's `split.tensors.count` says (GgufModel.*)
  /// @throws GgufError for a part that is missing, malformed, of another split, or there twice;
  ///         its path() is that part.
  static GgufModel open(const std::filesystem::path& path);

  const std::vector<GgufFile>& files() const { return files_; }
  /// In the order of the parts, each in the order of its directory.
  const std::vector<ModelTensor>& tensors() const { return tensors_; }
  /// Null when there is no such tensor.
  const ModelTensor* tensor(std::string_view name) const;

 private:
  GgufModel() = default;
  void collect_tensors();

  std::vector<GgufFile> files_;
  std::vector<ModelTensor> tensors_;
  NameOrder order_;
};

}  // namespace planegate
