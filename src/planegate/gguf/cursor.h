#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <planegate/gguf/mapped_file.h>
#include <planegate/gguf/types.h>

namespace planegate {

static_assert(std::endian::native == std::endian::little, "little-endian hosts only");

/// A position in the file that never leaves it: the only code that reads the mapping.
class Cursor {
 public:
  /// @pre 0 <= offset <= size of the file.
  explicit Cursor(const MappedFile& file, int64_t offset = 0) : file_(file), offset_(offset) {}

  int64_t offset() const { return offset_; }
  int64_t left() const { return static_cast<int64_t>(file_.bytes().size()) - offset_; }
  /// What the fields from here on belong to: `entry 2`, `key "a"`, or nothing. Becomes text in an
  /// error alone. `name` must outlive the cursor or the next call.
  void set_subject(const char* what, int64_t index) { subject_ = {what, index, {}}; }
  void set_subject(const char* what, std::string_view name) { subject_ = {what, -1, name}; }
  void clear_subject() { subject_ = {}; }

  /// @throws GgufError `field=truncated` when fewer than sizeof(T) bytes are left.
  template <class T>
  T read(std::string_view field) {
    need(sizeof(T), field);
    T value;
    std::memcpy(&value, file_.bytes().data() + offset_, sizeof(T));
    offset_ += static_cast<int64_t>(sizeof(T));
    return value;
  }

  /// A length and that many bytes. @throws GgufError where these do not fit the file.
  std::string_view read_string(std::string_view field);
  /// A boolean. @throws GgufError for a byte other than 0 and 1.
  bool read_bool(std::string_view field);
  /// @throws GgufError for a number that is no metadata type.
  GgufType read_type(std::string_view field);
  /// An array's element count. @throws GgufError where so many cannot fit the file.
  int64_t read_count(GgufType element_type);

  /// Moves past a value and checks everything in it. `depth` counts the arrays around it.
  void skip_value(GgufType type, int depth = 0);

  [[noreturn]] void fail(int64_t offset, std::string_view field, std::string_view value,
                         std::string_view requirement) const;

 private:
  struct Subject {
    const char* what = nullptr;
    int64_t index = -1;  ///< negative: `name` is it
    std::string_view name;
  };

  void need(int64_t bytes, std::string_view field) const;
  void skip_array(int depth);
  std::string subject_text() const;

  const MappedFile& file_;
  int64_t offset_;
  Subject subject_;
};

}  // namespace planegate
