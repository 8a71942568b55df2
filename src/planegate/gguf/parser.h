#pragma once

#include <cstdint>
#include <string_view>

#include <planegate/gguf/cursor.h>
#include <planegate/gguf/reader.h>

namespace planegate {

/// Fills a GgufFile from its mapping, in the order of the file: header, metadata, directory.
class GgufParser {
 public:
  explicit GgufParser(GgufFile& model);

  /// @throws GgufError at the first field that breaks a requirement.
  void parse();

 private:
  int64_t file_bytes() const { return cursor_.offset() + cursor_.left(); }
  void read_header();
  int64_t checked_count(int64_t offset, std::string_view field, uint64_t count,
                        int64_t least_bytes) const;
  void read_metadata_entry(int64_t index);
  void index_keys();
  void read_alignment();
  void read_tensor(int64_t index);
  void index_tensors();
  std::string_view read_tensor_name(int64_t index);
  void read_dims(GgufTensor& tensor);
  void read_offset(GgufTensor& tensor);
  const GgmlType* read_tensor_type();
  void place_data();
  void check_extents();
  void check_overlaps();
  [[noreturn]] void fail_placement(size_t index, std::string_view requirement);

  GgufFile& model_;
  Cursor cursor_;
  int64_t n_tensors_ = 0;
  int64_t n_kv_ = 0;
};

}  // namespace planegate
