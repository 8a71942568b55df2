#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <planegate/gguf/types.h>

namespace planegate {

/// Collects metadata and tensors, then writes them as a GGUF file of version 3.
///
/// Every add_... throws ContractError for what the reader would refuse: an empty, overlong or
/// repeated key or name, a tensor that cannot exist, bytes of another size than the tensor's.
/// Source: the GGUF specification, version 3.
class GgufWriter {
 public:
  /// Writes every byte of one tensor; the span arrives zeroed.
  using Fill = std::function<void(std::span<std::byte>)>;

  /// @pre alignment is a power of two, at most 2^31; else ContractError. Another one than 32 is
  /// written as `general.alignment`, a key that cannot be added by hand.
  explicit GgufWriter(int64_t alignment = kGgufDefaultAlignment);

  void add_u32(std::string_view key, uint32_t value);
  void add_u64(std::string_view key, uint64_t value);
  void add_f32(std::string_view key, float value);
  void add_string(std::string_view key, std::string_view value);
  void add_array(std::string_view key, std::span<const uint32_t> values);
  void add_array(std::string_view key, std::span<const std::string> values);

  /// `type` as in ggml_types(), ne[0] the row length.
  void add_tensor(std::string name, std::string_view type, std::vector<int64_t> ne,
                  std::vector<std::byte> bytes);
  /// The same for a tensor whose bytes are made while the file is written: only one tensor of
  /// this kind is in memory at a time.
  void add_tensor(std::string name, std::string_view type, std::vector<int64_t> ne, Fill fill);

  /// Writes a temporary file beside `path`, then renames it to `path`.
  ///
  /// On failure an existing `path` is untouched and the temporary file is gone; what a Fill
  /// throws comes through.
  /// @post GgufFile::open(path) returns what was added, in that order (GgufWriter.RoundTrip*);
  ///       the last tensor is padded too, as other readers expect.
  /// @throws std::filesystem::filesystem_error with path and reason.
  void write(const std::filesystem::path& path) const;

 private:
  struct Tensor {
    std::string name;
    const GgmlType* type;
    std::vector<int64_t> ne;
    int64_t offset;
    int64_t size_bytes;
    std::vector<std::byte> bytes;
    Fill fill;  ///< null: `bytes` are the content
  };

  void begin_entry(std::string_view key, GgufType type);
  Tensor& append_tensor(std::string name, std::string_view type, std::vector<int64_t> ne);
  int64_t padded(int64_t size_bytes) const;
  std::string head() const;

  int64_t alignment_;
  std::string metadata_;  ///< entries as they stand in the file
  std::set<std::string, std::less<>> keys_;
  std::vector<Tensor> tensors_;
  std::set<std::string, std::less<>> names_;
  int64_t data_bytes_ = 0;
};

}  // namespace planegate
