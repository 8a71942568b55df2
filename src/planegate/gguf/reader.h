#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <planegate/core/specs.h>
#include <planegate/gguf/error.h>
#include <planegate/gguf/metadata.h>
#include <planegate/gguf/name_order.h>
#include <planegate/gguf/types.h>

namespace planegate {

/// An entry of the tensor directory.
struct GgufTensor {
  std::string name;
  const GgmlType* type = nullptr;
  int n_dims = 1;                                       ///< 0: a scalar
  std::array<int64_t, kGgufMaxDims> ne = {1, 1, 1, 1};  ///< ne[0]: row length; 1 from n_dims on
  int64_t offset = 0;                                   ///< from the start of the tensor data
  int64_t size_bytes = 0;
  int64_t entry_offset = 0;  ///< of the directory entry, from the start of the file
};

/// A GGUF model, version 2 or 3, little-endian, mapped read-only.
///
/// open() checks every field before it trusts it; what it hands out lies inside the file. Memory
/// is bounded by a multiple of the file's own size (metadata values and tensor bytes stay in the
/// mapping), time by n log n of it.
///
/// Refused although some reader accepts it: a tensor with a zero extent; overlapping tensors; a
/// name above 64 bytes; an empty name or key; a boolean other than 0 and 1; arrays nested deeper
/// than 4. Accepted: any power of two as alignment; gaps between tensors and any order of them;
/// a tensor without dimensions (a scalar); bytes after the last tensor. All of it with messages:
/// docs/gguf-malformed.md.
///
/// Views (keys, values, tensors) are valid as long as the GgufFile that they came from, which may
/// be moved. The file must not change meanwhile: where another process truncates it, reading the
/// part that is gone is a SIGBUS.
/// Source: the GGUF specification, versions 2 and 3.
class GgufFile {
 public:
  /// @throws GgufError for a missing, unreadable or malformed file.
  /// @post tensors lie inside the file and do not overlap (GgufMalformed.*)
  static GgufFile open(const std::filesystem::path& path);
  /// The same for a file in memory. `bytes` must outlive it; `path` names them in errors.
  static GgufFile of_bytes(std::string path, std::span<const std::byte> bytes);

  GgufFile(GgufFile&&) noexcept;
  GgufFile& operator=(GgufFile&&) noexcept;
  ~GgufFile();

  const std::string& path() const;
  uint32_t version() const { return version_; }
  int64_t alignment() const { return alignment_; }
  /// Bytes from the start of the file to the tensor data, a multiple of alignment().
  int64_t data_offset() const { return data_offset_; }

  /// In the order of the file.
  const std::vector<GgufValue>& metadata() const { return metadata_; }
  /// Null when there is no such key.
  const GgufValue* find(std::string_view key) const;
  /// The value of `key`, nullopt when there is no such key. Types: see kGgufTypeOf.
  /// @throws GgufError when the value has another type.
  template <class T>
  std::optional<T> get(std::string_view key) const {
    const GgufValue* value = find(key);
    return value == nullptr ? std::nullopt : std::optional<T>(value->as<T>());
  }

  /// In the order of the file's directory.
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  /// Null when there is no such tensor.
  const GgufTensor* tensor(std::string_view name) const;

  /// The encoded bytes of a tensor. @pre it is one of tensors().
  std::span<const std::byte> bytes(const GgufTensor& tensor) const;
  /// A tensor as a matrix: id = ne[0], od = the product of the other extents; format = the name
  /// of its type. @pre it is one of tensors().
  RawTensor raw(const GgufTensor& tensor) const;

 private:
  friend class GgufParser;
  explicit GgufFile(std::unique_ptr<const MappedFile> file);

  std::unique_ptr<const MappedFile> file_;
  uint32_t version_ = 0;
  int64_t alignment_ = kGgufDefaultAlignment;
  int64_t data_offset_ = 0;
  std::vector<GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;
  NameOrder key_order_;
  NameOrder tensor_order_;
};

}  // namespace planegate
