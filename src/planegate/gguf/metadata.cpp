#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include <planegate/gguf/cursor.h>
#include <planegate/gguf/error.h>
#include <planegate/gguf/metadata.h>

namespace planegate {
namespace {

[[noreturn]] void wrong_type(const MappedFile& file, int64_t offset, std::string_view key,
                             std::string_view field, GgufType held, GgufType asked) {
  throw GgufError(file.path(), offset, field, gguf_type_name(held),
                  fmt::format("type {}", gguf_type_name(asked)),
                  fmt::format("key {}", quoted_text(key)));
}

}  // namespace

GgufArray::GgufArray(const MappedFile* file, std::string_view key, Cursor& cursor)
    : file_(file), key_(key), offset_(cursor.offset()) {
  element_type_ = cursor.read_type("array element type");
  size_ = cursor.read_count(element_type_);
  elements_offset_ = cursor.offset();
}

template <class T>
T GgufArray::decode(const MappedFile* file, std::string_view key, Cursor& cursor) {
  if constexpr (std::is_same_v<T, bool>) {
    return cursor.read_bool("bool");
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return cursor.read_string("string");
  } else if constexpr (std::is_same_v<T, GgufArray>) {
    Cursor head = cursor;
    cursor.skip_value(GgufType::kArray);
    return GgufArray(file, key, head);
  } else {
    return cursor.read<T>("value");
  }
}

template <class T>
std::vector<T> GgufArray::values() const {
  if (element_type_ != kGgufTypeOf<T>) {
    wrong_type(*file_, offset_, key_, "array element type", element_type_, kGgufTypeOf<T>);
  }
  Cursor cursor(*file_, elements_offset_);
  std::vector<T> all;
  all.reserve(static_cast<size_t>(size_));
  for (int64_t i = 0; i < size_; ++i) all.push_back(decode<T>(file_, key_, cursor));
  return all;
}

template <class T>
T GgufValue::as() const {
  if (type_ != kGgufTypeOf<T>) {
    wrong_type(*file_, offset_ - 4, key_, "value type", type_, kGgufTypeOf<T>);
  }
  Cursor cursor(*file_, offset_);
  return GgufArray::decode<T>(file_, key_, cursor);
}

#define PLANEGATE_GGUF_TYPE(T)         \
  template T GgufValue::as<T>() const; \
  template std::vector<T> GgufArray::values<T>() const;

PLANEGATE_GGUF_TYPE(uint8_t)
PLANEGATE_GGUF_TYPE(int8_t)
PLANEGATE_GGUF_TYPE(uint16_t)
PLANEGATE_GGUF_TYPE(int16_t)
PLANEGATE_GGUF_TYPE(uint32_t)
PLANEGATE_GGUF_TYPE(int32_t)
PLANEGATE_GGUF_TYPE(float)
PLANEGATE_GGUF_TYPE(bool)
PLANEGATE_GGUF_TYPE(std::string_view)
PLANEGATE_GGUF_TYPE(GgufArray)
PLANEGATE_GGUF_TYPE(uint64_t)
PLANEGATE_GGUF_TYPE(int64_t)
PLANEGATE_GGUF_TYPE(double)

#undef PLANEGATE_GGUF_TYPE

}  // namespace planegate
