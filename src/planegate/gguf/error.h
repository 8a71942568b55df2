#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace planegate {

/// A model file is missing, unreadable or malformed: where, which field, its value, what was
/// required of it.
///
/// Text: `model.gguf: byte 57: n_dims=9 (tensor "x"): 1 to 4`. The part in brackets is the
/// subject, absent where the field belongs to the file as a whole. A file that cannot be opened
/// has the field `file`. Text from the file is quoted: bytes that do not print become `\xNN`.
class GgufError : public std::runtime_error {
 public:
  GgufError(std::string_view path, int64_t offset, std::string_view field, std::string_view value,
            std::string_view requirement, std::string_view subject = {});

  const std::string& path() const noexcept { return path_; }
  /// Bytes from the start of the file to the field.
  int64_t offset() const noexcept { return offset_; }
  const std::string& field() const noexcept { return field_; }
  const std::string& value() const noexcept { return value_; }
  const std::string& requirement() const noexcept { return requirement_; }
  const std::string& subject() const noexcept { return subject_; }

 private:
  std::string path_;
  int64_t offset_;
  std::string field_;
  std::string value_;
  std::string requirement_;
  std::string subject_;
};

/// `"text"` for a message: at most 64 bytes of it, then `...`; bytes outside printable ASCII,
/// quotes and backslashes as `\xNN`.
std::string quoted_text(std::string_view text);

}  // namespace planegate
