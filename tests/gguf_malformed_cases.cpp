#include "gguf_bytes.h"
#include "gguf_cases.h"

namespace planegate::test {
namespace {

using Cases = std::vector<MalformedCase>;

constexpr const char* kField = "the field";
constexpr const char* kLength = "the length before the text";
constexpr const char* kOffset = "the offset in the directory";

template <class T>
std::string small_with(size_t offset, T value) {
  return patched(small_image(), offset, value);
}

std::string cut(size_t size) {
  return small_image().substr(0, size);
}

std::string value_of(GgufType type, const std::string& value) {
  return one_entry_image(type, value);
}

std::string array_of(GgufType element_type, uint64_t count, const std::string& tail) {
  return one_entry_image(GgufType::kArray, array_head(element_type, count) + tail);
}

Cases header_cases() {
  return {
      {"BadMagic", "bad magic", kField, small_with(0, uint32_t{0x67676d6c}),
       "byte 0: magic=0x67676d6c: \"GGUF\""},
      {"Version0", "version 0", kField, small_with(at::kVersion, 0u), "byte 4: version=0: 2 or 3"},
      {"Version1", "version 1", kField, small_with(at::kVersion, 1u), "byte 4: version=1: 2 or 3"},
      {"Version4", "future version", kField, small_with(at::kVersion, 4u),
       "byte 4: version=4: 2 or 3"},
      {"Version65536", "future version", kField, small_with(at::kVersion, 65'536u),
       "byte 4: version=65536: 2 or 3"},
      {"BigEndian", "big-endian file", kField, read_file(PLANEGATE_TEST_DATA "/big_endian.gguf"),
       "byte 4: version=0x03000000: little-endian, this file is big-endian"},
      {"TensorsSizeMax", "absurd n_tensors", kField, small_with(at::kTensors, ~uint64_t{0}),
       "byte 8: n_tensors=18446744073709551615: at most 8 in the 296 bytes left"},
      {"TensorsOneTooMany", "more tensors than fit", kField, small_with(at::kTensors, uint64_t{9}),
       "byte 8: n_tensors=9: at most 8 in the 296 bytes left"},
      {"EntriesAbove63Bits", "absurd n_kv", kField, small_with(at::kKv, uint64_t{1} << 63),
       "byte 16: n_kv=9223372036854775808: at most 21 in the 296 bytes left"},
      {"EntriesOneTooMany", "more entries than fit", kField, small_with(at::kKv, uint64_t{22}),
       "byte 16: n_kv=22: at most 21 in the 296 bytes left"},
  };
}

std::string long_key_image() {
  std::string image = small_with(at::kFirstKey, uint64_t{65'536});
  return image.insert(at::kFirstKey + 8, std::string(65'535, 'k'));
}

Cases key_cases() {
  return {
      {"KeySizeMax", "string length SIZE_MAX", kLength, small_with(at::kFirstKey, ~uint64_t{0}),
       "byte 24: key length=18446744073709551615 (entry 0): at most the 288 bytes left in the "
       "file"},
      {"KeyEmpty", "empty key", kLength, small_with(at::kSecondKey, uint64_t{0}),
       "byte 41: key length=0 (entry 1): 1 to 65535"},
      {"KeyAbove65535Bytes", "key too long", kLength, long_key_image(),
       "byte 24: key length=65536 (entry 0): 1 to 65535"},
      {"KeyTwice", "duplicate key", kLength, small_with(at::kThirdKey + 8, 'a'),
       "byte 64: key=\"a\" (entry 2): only once in a file"},
      {"ValueTypeUnknown", "value type unknown", kField,
       small_with(at::kFirstKey + 9, uint32_t{13}),
       "byte 33: value type=13 (key \"a\"): a metadata type, 0 to 12"},
      {"ValueTypeNegative", "value type negative", kField, small_with(at::kFirstKey + 9, -1),
       "byte 33: value type=4294967295 (key \"a\"): a metadata type, 0 to 12"},
  };
}

Cases value_cases() {
  return {
      {"StringSizeMax", "string length SIZE_MAX", kLength,
       small_with(at::kSecondString, ~uint64_t{0}),
       "byte 54: string length=18446744073709551615 (key \"s\"): at most the 258 bytes left in the "
       "file"},
      {"StringOneTooLong", "string longer than the file", kLength,
       small_with(at::kSecondString, uint64_t{259}),
       "byte 54: string length=259 (key \"s\"): at most the 258 bytes left in the file"},
      {"BooleanTwo", "boolean other than 0 and 1", kField, value_of(GgufType::kBool, "\2"),
       "byte 37: bool=2 (key \"k\"): 0 or 1"},
      {"BooleanThreeInArray", "boolean other than 0 and 1", kField,
       array_of(GgufType::kBool, 2, "\1\3"), "byte 50: bool=3 (key \"k\"): 0 or 1"},
      {"ValueTruncated", "truncated file", kField, value_of(GgufType::kU64, "1234"),
       "byte 37: value=truncated (key \"k\"): 8 bytes, the file has 4 left"},
  };
}

std::string nested_arrays(int depth) {
  std::string value;
  for (int i = 0; i < depth; ++i) value += array_head(GgufType::kArray, 1);
  return one_entry_image(GgufType::kArray, value + array_head(GgufType::kU8, 0));
}

Cases array_cases() {
  const std::string tail(24, '\0');
  const uint64_t wraps = (uint64_t{1} << 61) + 1;
  return {
      {"ArrayTypeUnknown", "array element type invalid", kField,
       small_with(at::kArrayType, ~uint32_t{0}),
       "byte 77: array element type=4294967295 (key \"v\"): a metadata type, 0 to 12"},
      {"Array2To60", "array count 2^60", kField, small_with(at::kArrayCount, uint64_t{1} << 60),
       "byte 81: array count=1152921504606846976 (key \"v\"): at most 57 of type u32 in the 231 "
       "bytes left"},
      {"ArraySizeMax", "array count SIZE_MAX", kField, small_with(at::kArrayCount, ~uint64_t{0}),
       "byte 81: array count=18446744073709551615 (key \"v\"): at most 57 of type u32 in the 231 "
       "bytes left"},
      {"ArrayBytesWrap", "array count times 8 wraps", kField, array_of(GgufType::kU64, wraps, tail),
       "byte 41: array count=2305843009213693953 (key \"k\"): at most 3 of type u64 in the 24 "
       "bytes left"},
      {"ArrayOneTooMany", "array longer than the file", kField,
       small_with(at::kArrayCount, uint64_t{58}),
       "byte 81: array count=58 (key \"v\"): at most 57 of type u32 in the 231 bytes left"},
      {"ArrayOfStringsTooLong", "array longer than the file", kField,
       array_of(GgufType::kString, 4, tail),
       "byte 41: array count=4 (key \"k\"): at most 3 of type string in the 24 bytes left"},
      {"ArrayOfArraysTooLong", "array longer than the file", kField,
       array_of(GgufType::kArray, 3, tail),
       "byte 41: array count=3 (key \"k\"): at most 2 of type array in the 24 bytes left"},
      {"ArraysFiveDeep", "arrays nested too deep", "the head of the innermost array",
       nested_arrays(4), "byte 85: array depth=5 (key \"k\"): at most 4"},
      {"Arrays10000Deep", "arrays nested too deep", "the head of the fifth array",
       nested_arrays(10'000), "byte 85: array depth=5 (key \"k\"): at most 4"},
  };
}

std::string aligned_with(GgufType type, uint32_t alignment) {
  GgufWriter writer(64);
  writer.add_tensor("x", "f32", {8}, counting_bytes(32));
  constexpr size_t kType = 24 + 8 + 17;
  return patched(patched(image_of(writer), kType, type), kType + 4, alignment);
}

Cases alignment_cases() {
  const auto of = [](uint32_t alignment) { return aligned_with(GgufType::kU32, alignment); };
  return {
      {"AlignmentZero", "general.alignment zero", kField, of(0),
       "byte 53: general.alignment=0: a power of two"},
      {"Alignment24", "general.alignment not a power of two", kField, of(24),
       "byte 53: general.alignment=24: a power of two"},
      {"AlignmentUintMax", "general.alignment not a power of two", kField, of(~uint32_t{0}),
       "byte 53: general.alignment=4294967295: a power of two"},
      {"Alignment2To31", "general.alignment enormous", kField, of(uint32_t{1} << 31),
       "byte 53: general.alignment=2147483648: at most the 192 bytes of the file"},
      {"AlignmentF32", "general.alignment of another type", "the value's type",
       aligned_with(GgufType::kF32, 64),
       "byte 49: value type=f32 (key \"general.alignment\"): type u32"},
  };
}

Cases name_cases() {
  return {
      {"NameEmpty", "empty tensor name", kLength, small_with(at::kX, uint64_t{0}),
       "byte 101: name length=0 (tensor 0): 1 to 64"},
      {"Name65Bytes", "tensor name too long", kLength, small_with(at::kY, uint64_t{65}),
       "byte 134: name length=65 (tensor 1): 1 to 64"},
      {"NameSizeMax", "string length SIZE_MAX", kLength, small_with(at::kY, ~uint64_t{0}),
       "byte 134: name length=18446744073709551615 (tensor 1): at most the 178 bytes left in the "
       "file"},
      {"NameTwice", "duplicate tensor name", kLength, small_with(at::kY + 8, 'x'),
       "byte 134: name=\"x\" (tensor 1): only once in a file"},
  };
}

Cases extent_cases() {
  const std::string elems_wrap =
      patched(small_with(at::kYNe0, uint64_t{1} << 33), at::kYNe1, uint64_t{1} << 31);
  const std::string to_one =
      patched(small_with(at::kYNe0, uint64_t{1} << 32), at::kYNe1, (uint64_t{1} << 32) + 1);
  return {
      {"FiveDims", "n_dims above 4", kField, small_with(at::kXDims, 5u),
       "byte 110: n_dims=5 (tensor \"x\"): 0 to 4"},
      {"DimsUintMax", "n_dims above 4", kField, small_with(at::kXDims, ~uint32_t{0}),
       "byte 110: n_dims=4294967295 (tensor \"x\"): 0 to 4"},
      {"RowLengthZero", "zero dimension", kField, small_with(at::kXNe0, uint64_t{0}),
       "byte 114: ne[0]=0 (tensor \"x\"): at least 1"},
      {"SecondExtentZero", "zero dimension", kField, small_with(at::kYNe1, uint64_t{0}),
       "byte 155: ne[1]=0 (tensor \"y\"): at least 1"},
      {"ExtentNegative", "negative dimension", kField, small_with(at::kYNe1, int64_t{-1}),
       "byte 155: ne[1]=18446744073709551615 (tensor \"y\"): below 2^63"},
      {"ElementsWrap", "element product wraps", "the first extent", elems_wrap,
       "byte 147: ne=8589934592x2147483648 (tensor \"y\"): a product below 2^63"},
      {"ElementsWrapToSmall", "element product wraps", "the first extent", to_one,
       "byte 147: ne=4294967296x4294967297 (tensor \"y\"): a product below 2^63"},
      {"BytesWrap", "byte size wraps", "the first extent", small_with(at::kXNe0, uint64_t{1} << 62),
       "byte 114: ne=4611686018427387904 (tensor \"x\"): a size in bytes below 2^63 as f32"},
      {"RowNoMultipleOfBlock", "row length not a multiple of the block", "the row length",
       small_with(at::kYNe0, uint64_t{33}),
       "byte 147: ne[0]=33 (tensor \"y\"): a multiple of 32 for q8_0"},
      {"ScalarOfBlocks", "row length not a multiple of the block", "the end of the extents",
       small_with(at::kXDims, 0u).replace(at::kXNe0, 8, bytes_of(uint32_t{8})),
       "byte 114: ne[0]=1 (tensor \"x\"): a multiple of 32 for q8_0"},
  };
}

Cases type_cases() {
  return {
      {"TypeUnknown", "type unknown", kField, small_with(at::kXType, uint32_t{42}),
       "byte 122: type=42 (tensor \"x\"): a known ggml type"},
      {"TypeNegative", "type negative", kField, small_with(at::kXType, int32_t{-1}),
       "byte 122: type=4294967295 (tensor \"x\"): a known ggml type"},
      {"TypeRemoved", "type that upstream removed", kField, small_with(at::kXType, uint32_t{31}),
       "byte 122: type=31 (tensor \"x\"): a current ggml type, q4_0_4_4 was removed"},
  };
}

/// Tensors of `extent` bytes each, one alignment step apart where `offsets` says so.
std::string giants_image(uint64_t extent, const std::vector<uint64_t>& offsets) {
  std::string image =
      "GGUF" + bytes_of(uint32_t{3}) + bytes_of(uint64_t{offsets.size()}) + bytes_of(uint64_t{0});
  for (size_t i = 0; i < offsets.size(); ++i) {
    image += bytes_of(uint64_t{1}) + static_cast<char>('a' + i) + bytes_of(1u) + bytes_of(extent) +
             bytes_of(uint32_t{24}) + bytes_of(offsets[i]);
  }
  image.resize((image.size() + 31) / 32 * 32);
  return image + std::string(64, 'x');
}

Cases placement_cases() {
  constexpr uint64_t kHuge = uint64_t{1} << 62;
  return {
      {"OffsetOffAlignment", "offset not aligned", kOffset, small_with(at::kYOffset, uint64_t{33}),
       "byte 167: offset=33 (tensor \"y\"): a multiple of 32"},
      {"OffsetBeyondFile", "offset beyond the file", kOffset,
       small_with(at::kYOffset, uint64_t{160}),
       "byte 167: offset=160 (tensor \"y\"): 68 bytes from there, inside the 128 bytes from byte "
       "192 on"},
      {"ExtentBeyondFile", "extent beyond the file", kOffset,
       small_with(at::kYOffset, uint64_t{64}),
       "byte 167: offset=64 (tensor \"y\"): 68 bytes from there, inside the 128 bytes from byte "
       "192 on"},
      {"EndWraps", "offset plus size wraps", kOffset,
       small_with(at::kYOffset, uint64_t{0x7fffffffffffffe0}),
       "byte 167: offset=9223372036854775776 (tensor \"y\"): 68 bytes from there, inside the 128 "
       "bytes from byte 192 on"},
      {"OffsetAbove63Bits", "offset negative", kOffset, small_with(at::kYOffset, int64_t{-32}),
       "byte 167: offset=18446744073709551584 (tensor \"y\"): below 2^63"},
      {"SumOfSizesWraps", "sum of sizes wraps", kOffset,
       giants_image(kHuge, {0, kHuge, 2 * kHuge - 32}),
       "byte 49: offset=0 (tensor \"a\"): 4611686018427387904 bytes from there, inside the 64 "
       "bytes from byte 128 on"},
      {"PaddingWraps", "sum of paddings wraps", kOffset, giants_image(2 * kHuge - 1, {0}),
       "byte 49: offset=0 (tensor \"a\"): 9223372036854775807 bytes from there, inside the 64 "
       "bytes from byte 64 on"},
      {"TensorsShareStart", "tensor regions that overlap", kOffset,
       small_with(at::kYOffset, uint64_t{0}),
       "byte 167: offset=0 (tensor \"y\"): outside tensor \"x\", bytes 0 to 32 of the tensor data"},
      {"TensorInsideAnother", "tensor regions that overlap", kOffset,
       small_with(at::kXOffset, uint64_t{96}),
       "byte 126: offset=96 (tensor \"x\"): outside tensor \"y\", bytes 32 to 100 of the tensor "
       "data"},
  };
}

Cases truncated_cases() {
  constexpr const char* kTruncated = "truncated file";
  return {
      {"MagicTruncated", kTruncated, kField, cut(3),
       "byte 0: magic=truncated: 4 bytes, the file has 3 left"},
      {"VersionTruncated", kTruncated, kField, cut(6),
       "byte 4: version=truncated: 4 bytes, the file has 2 left"},
      {"TensorCountAbsent", kTruncated, kField, cut(8),
       "byte 8: n_tensors=truncated: 8 bytes, the file has 0 left"},
      {"EntryCountTruncated", kTruncated, kField, cut(at::kKv + 7),
       "byte 16: n_kv=truncated: 8 bytes, the file has 7 left"},
      {"ExtentTruncated", kTruncated, kField, cut(at::kYNe1 + 4),
       "byte 155: ne[1]=truncated (tensor \"y\"): 8 bytes, the file has 4 left"},
      {"TypeTruncated", kTruncated, kField, cut(at::kYType + 2),
       "byte 163: type=truncated (tensor \"y\"): 4 bytes, the file has 2 left"},
      {"DirectoryOnly", kTruncated, kOffset, cut(at::kDirectoryEnd),
       "byte 126: offset=0 (tensor \"x\"): 32 bytes from there, inside the 0 bytes from byte 192 "
       "on"},
      {"LastByteAbsent", kTruncated, kOffset, cut(at::kYEnd - 1),
       "byte 167: offset=32 (tensor \"y\"): 68 bytes from there, inside the 99 bytes from byte 192 "
       "on"},
  };
}

}  // namespace

std::vector<MalformedCase> malformed_cases() {
  std::vector<MalformedCase> all;
  for (const Cases& some :
       {header_cases(), key_cases(), value_cases(), array_cases(), alignment_cases(), name_cases(),
        extent_cases(), type_cases(), placement_cases(), truncated_cases()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace planegate::test
