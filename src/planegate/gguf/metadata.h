#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <planegate/gguf/types.h>

namespace planegate {

class Cursor;
class GgufArray;
class MappedFile;

/// The metadata type that a C++ type stands for; other types do not compile.
template <class T>
inline constexpr GgufType kGgufTypeOf = [] {
  static_assert(sizeof(T) == 0, "no metadata type");
  return GgufType::kArray;
}();
template <>
inline constexpr GgufType kGgufTypeOf<uint8_t> = GgufType::kU8;
template <>
inline constexpr GgufType kGgufTypeOf<int8_t> = GgufType::kI8;
template <>
inline constexpr GgufType kGgufTypeOf<uint16_t> = GgufType::kU16;
template <>
inline constexpr GgufType kGgufTypeOf<int16_t> = GgufType::kI16;
template <>
inline constexpr GgufType kGgufTypeOf<uint32_t> = GgufType::kU32;
template <>
inline constexpr GgufType kGgufTypeOf<int32_t> = GgufType::kI32;
template <>
inline constexpr GgufType kGgufTypeOf<float> = GgufType::kF32;
template <>
inline constexpr GgufType kGgufTypeOf<bool> = GgufType::kBool;
template <>
inline constexpr GgufType kGgufTypeOf<std::string_view> = GgufType::kString;
template <>
inline constexpr GgufType kGgufTypeOf<GgufArray> = GgufType::kArray;
template <>
inline constexpr GgufType kGgufTypeOf<uint64_t> = GgufType::kU64;
template <>
inline constexpr GgufType kGgufTypeOf<int64_t> = GgufType::kI64;
template <>
inline constexpr GgufType kGgufTypeOf<double> = GgufType::kF64;

/// A metadata array: a view into the file, nothing copied. Valid as long as its GgufFile.
class GgufArray {
 public:
  GgufType element_type() const { return element_type_; }
  int64_t size() const { return size_; }

  /// All elements. T is the element type exactly: no conversion.
  /// @throws GgufError when the file holds another type.
  template <class T>
  std::vector<T> values() const;

 private:
  friend class GgufValue;
  GgufArray(const MappedFile* file, std::string_view key, Cursor& cursor);

  template <class T>
  static T decode(const MappedFile* file, std::string_view key, Cursor& cursor);

  const MappedFile* file_;
  std::string_view key_;
  GgufType element_type_;
  int64_t size_;
  int64_t offset_;  ///< of the element type in the file
  int64_t elements_offset_;
};

/// One metadata entry: a view into the file. Valid as long as its GgufFile.
class GgufValue {
 public:
  std::string_view key() const { return key_; }
  GgufType type() const { return type_; }
  /// Bytes from the start of the file to the value.
  int64_t offset() const { return offset_; }

  /// The value. T is its type exactly: no conversion.
  /// @throws GgufError when the file holds another type.
  template <class T>
  T as() const;

 private:
  friend class GgufFile;
  friend class GgufParser;
  GgufValue(const MappedFile* file, std::string_view key, GgufType type, int64_t offset)
      : file_(file), key_(key), type_(type), offset_(offset) {}

  const MappedFile* file_;
  std::string_view key_;
  GgufType type_;
  int64_t offset_;
};

}  // namespace planegate
