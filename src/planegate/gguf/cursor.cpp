#include <fmt/format.h>

#include <planegate/gguf/cursor.h>
#include <planegate/gguf/error.h>

namespace planegate {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kArrayHeadBytes = 4 + 8;

int64_t least_bytes(GgufType type) {
  if (type == GgufType::kString) return kLengthBytes;
  if (type == GgufType::kArray) return kArrayHeadBytes;
  return gguf_type_bytes(type);
}

}  // namespace

void Cursor::fail(int64_t offset, std::string_view field, std::string_view value,
                  std::string_view requirement) const {
  throw GgufError(file_.path(), offset, field, value, requirement, subject_text());
}

std::string Cursor::subject_text() const {
  if (subject_.what == nullptr) return {};
  return fmt::format(
      "{} {}", subject_.what,
      subject_.index < 0 ? quoted_text(subject_.name) : std::to_string(subject_.index));
}

void Cursor::need(int64_t bytes, std::string_view field) const {
  if (bytes > left()) {
    fail(offset_, field, "truncated", fmt::format("{} bytes, the file has {} left", bytes, left()));
  }
}

std::string_view Cursor::read_string(std::string_view field) {
  const int64_t start = offset_;
  const auto length = read<uint64_t>(field);
  if (length > static_cast<uint64_t>(left())) {
    fail(start, fmt::format("{} length", field), std::to_string(length),
         fmt::format("at most the {} bytes left in the file", left()));
  }
  const auto* text = reinterpret_cast<const char*>(file_.bytes().data() + offset_);
  offset_ += static_cast<int64_t>(length);
  return {text, static_cast<size_t>(length)};
}

bool Cursor::read_bool(std::string_view field) {
  const auto byte = read<uint8_t>(field);
  if (byte > 1) fail(offset_ - 1, field, std::to_string(byte), "0 or 1");
  return byte == 1;
}

GgufType Cursor::read_type(std::string_view field) {
  const auto number = read<uint32_t>(field);
  if (number >= kGgufTypes) {
    fail(offset_ - 4, field, std::to_string(number), "a metadata type, 0 to 12");
  }
  return GgufType{number};
}

int64_t Cursor::read_count(GgufType element_type) {
  const int64_t start = offset_;
  const auto count = read<uint64_t>("array count");
  const int64_t most = left() / least_bytes(element_type);
  if (count > static_cast<uint64_t>(most)) {
    fail(start, "array count", std::to_string(count),
         fmt::format("at most {} of type {} in the {} bytes left", most,
                     gguf_type_name(element_type), left()));
  }
  return static_cast<int64_t>(count);
}

void Cursor::skip_value(GgufType type, int depth) {
  if (type == GgufType::kArray) return skip_array(depth + 1);
  if (type == GgufType::kString) {
    read_string("string");
  } else if (type == GgufType::kBool) {
    read_bool("bool");
  } else {
    need(gguf_type_bytes(type), "value");
    offset_ += gguf_type_bytes(type);
  }
}

void Cursor::skip_array(int depth) {
  if (depth > kGgufMaxArrayDepth) {
    fail(offset_, "array depth", std::to_string(depth),
         fmt::format("at most {}", kGgufMaxArrayDepth));
  }
  const GgufType element_type = read_type("array element type");
  const int64_t count = read_count(element_type);
  const bool any_bits = gguf_type_bytes(element_type) != 0 && element_type != GgufType::kBool;
  if (any_bits) {
    offset_ += count * gguf_type_bytes(element_type);
  } else {
    for (int64_t i = 0; i < count; ++i) skip_value(element_type, depth);
  }
}

}  // namespace planegate
