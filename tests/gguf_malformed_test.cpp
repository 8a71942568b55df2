#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gguf_bytes.h"

namespace planegate::test {
namespace {

std::string text_from_accessors(const GgufError& e) {
  const std::string subject = e.subject().empty() ? "" : fmt::format(" ({})", e.subject());
  return fmt::format("byte {}: {}={}{}: {}", e.offset(), e.field(), e.value(), subject,
                     e.requirement());
}

// The error's text without the path, or "accepted".
std::string refusal(const std::string& image) {
  const TempDir dir;
  try {
    open_image(dir, image);
    return "accepted";
  } catch (const GgufError& e) {
    EXPECT_EQ(e.what(), (dir / "model.gguf").string() + ": " + text_from_accessors(e));
    return text_from_accessors(e);
  }
}

TEST(GgufMalformed, BaseImageIsAccepted) {
  EXPECT_EQ(refusal(small_image()), "accepted");
}

TEST(GgufMalformed, ErrorTextHasOneForm) {
  const GgufError e("model.gguf", 24, "n_dims", "9", "1 to 4", "tensor \"x\"");
  EXPECT_STREQ(e.what(), "model.gguf: byte 24: n_dims=9 (tensor \"x\"): 1 to 4");
  const GgufError bare("model.gguf", 4, "version", "1", "2 or 3");
  EXPECT_STREQ(bare.what(), "model.gguf: byte 4: version=1: 2 or 3");
}

TEST(GgufMalformed, TextOfTheFileIsQuoted) {
  EXPECT_EQ(quoted_text("blk.0"), "\"blk.0\"");
  EXPECT_EQ(quoted_text(std::string_view("a\n\0\"\\\xff", 6)), R"("a\x0a\x00\x22\x5c\xff")");
  EXPECT_EQ(quoted_text(std::string(65, 'n')), '"' + std::string(64, 'n') + "\"...");
}

TEST(GgufMalformed, BadMagic) {
  EXPECT_EQ(refusal(patched(small_image(), 0, uint32_t{0x67676d6c})),
            "byte 0: magic=0x67676d6c: \"GGUF\"");
}

TEST(GgufMalformed, VersionZeroOneOrFuture) {
  for (const uint32_t version : {0u, 1u, 4u, 65536u}) {
    EXPECT_EQ(refusal(patched(small_image(), at::kVersion, version)),
              fmt::format("byte 4: version={}: 2 or 3", version));
  }
}

TEST(GgufMalformed, BigEndianFileIsNamed) {
  const std::string image = read_file(PLANEGATE_TEST_DATA "/big_endian.gguf");
  EXPECT_EQ(refusal(image), "byte 4: version=0x03000000: little-endian, this file is big-endian");
}

TEST(GgufMalformed, MoreTensorsThanFit) {
  EXPECT_EQ(refusal(patched(small_image(), at::kTensors, ~uint64_t{0})),
            "byte 8: n_tensors=18446744073709551615: at most 8 in the 296 bytes left");
  EXPECT_EQ(refusal(patched(small_image(), at::kTensors, uint64_t{9})),
            "byte 8: n_tensors=9: at most 8 in the 296 bytes left");
}

TEST(GgufMalformed, MoreEntriesThanFit) {
  EXPECT_EQ(refusal(patched(small_image(), at::kKv, uint64_t{1} << 63)),
            "byte 16: n_kv=9223372036854775808: at most 21 in the 296 bytes left");
  EXPECT_EQ(refusal(patched(small_image(), at::kKv, uint64_t{22})),
            "byte 16: n_kv=22: at most 21 in the 296 bytes left");
}

TEST(GgufMalformed, KeyLongerThanTheFile) {
  EXPECT_EQ(refusal(patched(small_image(), at::kFirstKey, ~uint64_t{0})),
            "byte 24: key length=18446744073709551615 (entry 0): at most the 288 bytes left in the "
            "file");
}

TEST(GgufMalformed, EmptyKey) {
  EXPECT_EQ(refusal(patched(small_image(), at::kSecondKey, uint64_t{0})),
            "byte 41: key length=0 (entry 1): 1 to 65535");
}

TEST(GgufMalformed, KeyAbove65535Bytes) {
  std::string image = small_image();
  image = patched(image, at::kFirstKey, uint64_t{65'536});
  image.insert(at::kFirstKey + 8, std::string(65'535, 'k'));
  EXPECT_EQ(refusal(image), "byte 24: key length=65536 (entry 0): 1 to 65535");
}

TEST(GgufMalformed, DuplicateKey) {
  EXPECT_EQ(refusal(patched(small_image(), at::kThirdKey + 8, 'a')),
            "byte 64: key=\"a\" (entry 2): only once in a file");
}

TEST(GgufMalformed, UnknownValueType) {
  EXPECT_EQ(refusal(patched(small_image(), at::kFirstKey + 9, uint32_t{13})),
            "byte 33: value type=13 (key \"a\"): a metadata type, 0 to 12");
}

TEST(GgufMalformed, StringLongerThanTheFile) {
  EXPECT_EQ(refusal(patched(small_image(), at::kSecondString, uint64_t{259})),
            "byte 54: string length=259 (key \"s\"): at most the 258 bytes left in the file");
}

TEST(GgufMalformed, BooleanOtherThanZeroAndOne) {
  EXPECT_EQ(refusal(one_entry_image(GgufType::kBool, "\2")), "byte 37: bool=2 (key \"k\"): 0 or 1");
  EXPECT_EQ(refusal(one_entry_image(GgufType::kArray, array_head(GgufType::kBool, 2) + "\1\3")),
            "byte 50: bool=3 (key \"k\"): 0 or 1");
}

TEST(GgufMalformed, UnknownArrayElementType) {
  EXPECT_EQ(refusal(patched(small_image(), at::kArrayType, ~uint32_t{0})),
            "byte 77: array element type=4294967295 (key \"v\"): a metadata type, 0 to 12");
}

TEST(GgufMalformed, ArrayCountBeyondTheFile) {
  EXPECT_EQ(refusal(patched(small_image(), at::kArrayCount, uint64_t{1} << 62)),
            "byte 81: array count=4611686018427387904 (key \"v\"): at most 57 of type u32 in the "
            "231 bytes left");
  EXPECT_EQ(refusal(patched(small_image(), at::kArrayCount, uint64_t{58})),
            "byte 81: array count=58 (key \"v\"): at most 57 of type u32 in the 231 bytes left");
}

TEST(GgufMalformed, CountOfStringsOrArraysBeyondTheFile) {
  const std::string tail(24, '\0');
  EXPECT_EQ(refusal(one_entry_image(GgufType::kArray, array_head(GgufType::kString, 4) + tail)),
            "byte 41: array count=4 (key \"k\"): at most 3 of type string in the 24 bytes left");
  EXPECT_EQ(refusal(one_entry_image(GgufType::kArray, array_head(GgufType::kArray, 3) + tail)),
            "byte 41: array count=3 (key \"k\"): at most 2 of type array in the 24 bytes left");
}

TEST(GgufMalformed, ArraysNestedTooDeep) {
  std::string value;
  for (int depth = 1; depth <= 4; ++depth) value += array_head(GgufType::kArray, 1);
  value += array_head(GgufType::kU8, 0);
  EXPECT_EQ(refusal(one_entry_image(GgufType::kArray, value)),
            "byte 85: array depth=5 (key \"k\"): at most 4");
}

std::string aligned_image() {
  GgufWriter writer(64);
  writer.add_tensor("x", "f32", {8}, counting_bytes(32));
  return image_of(writer);
}
constexpr size_t kAlignmentType = 24 + 8 + 17;

TEST(GgufMalformed, AlignmentZeroOrNoPowerOfTwo) {
  for (const uint32_t alignment : {0u, 24u, 33u, 0xffffffffu}) {
    EXPECT_EQ(refusal(patched(aligned_image(), kAlignmentType + 4, alignment)),
              fmt::format("byte 53: general.alignment={}: a power of two", alignment));
  }
}

TEST(GgufMalformed, AlignmentOfAnotherType) {
  EXPECT_EQ(refusal(patched(aligned_image(), kAlignmentType, GgufType::kF32)),
            "byte 49: value type=f32 (key \"general.alignment\"): type u32");
}

TEST(GgufMalformed, AlignmentAboveTheFileSize) {
  EXPECT_EQ(refusal(patched(aligned_image(), kAlignmentType + 4, uint32_t{1} << 31)),
            "byte 53: general.alignment=2147483648: at most the 192 bytes of the file");
}

TEST(GgufMalformed, EmptyOrOverlongTensorName) {
  EXPECT_EQ(refusal(patched(small_image(), at::kX, uint64_t{0})),
            "byte 101: name length=0 (tensor 0): 1 to 64");
  EXPECT_EQ(refusal(patched(small_image(), at::kY, uint64_t{65})),
            "byte 134: name length=65 (tensor 1): 1 to 64");
  EXPECT_EQ(refusal(patched(small_image(), at::kY, ~uint64_t{0})),
            "byte 134: name length=18446744073709551615 (tensor 1): at most the 178 bytes left in "
            "the file");
}

TEST(GgufMalformed, DuplicateTensorName) {
  EXPECT_EQ(refusal(patched(small_image(), at::kY + 8, 'x')),
            "byte 134: name=\"x\" (tensor 1): only once in a file");
}

TEST(GgufMalformed, DimsZeroOrAboveFour) {
  for (const uint32_t n_dims : {0u, 5u, 0xffffffffu}) {
    EXPECT_EQ(refusal(patched(small_image(), at::kXDims, n_dims)),
              fmt::format("byte 110: n_dims={} (tensor \"x\"): 1 to 4", n_dims));
  }
}

TEST(GgufMalformed, ZeroExtent) {
  EXPECT_EQ(refusal(patched(small_image(), at::kXNe0, uint64_t{0})),
            "byte 114: ne[0]=0 (tensor \"x\"): at least 1");
  EXPECT_EQ(refusal(patched(small_image(), at::kYNe1, uint64_t{0})),
            "byte 155: ne[1]=0 (tensor \"y\"): at least 1");
}

TEST(GgufMalformed, ExtentAbove63Bits) {
  EXPECT_EQ(refusal(patched(small_image(), at::kYNe1, ~uint64_t{0})),
            "byte 155: ne[1]=18446744073709551615 (tensor \"y\"): below 2^63");
}

TEST(GgufMalformed, ElementProductWraps) {
  std::string image = patched(small_image(), at::kYNe0, uint64_t{1} << 33);
  image = patched(image, at::kYNe1, uint64_t{1} << 31);
  EXPECT_EQ(refusal(image),
            "byte 147: ne=8589934592x2147483648 (tensor \"y\"): a product below 2^63");
}

TEST(GgufMalformed, ByteSizeWraps) {
  EXPECT_EQ(refusal(patched(small_image(), at::kXNe0, uint64_t{1} << 62)),
            "byte 114: ne=4611686018427387904 (tensor \"x\"): a size in bytes below 2^63 as f32");
}

TEST(GgufMalformed, RowLengthNoMultipleOfTheBlock) {
  EXPECT_EQ(refusal(patched(small_image(), at::kYNe0, uint64_t{33})),
            "byte 147: ne[0]=33 (tensor \"y\"): a multiple of 32 for q8_0");
}

TEST(GgufMalformed, UnknownTensorType) {
  for (const uint32_t type : {42u, 0x80000000u, 0xffffffffu}) {
    EXPECT_EQ(refusal(patched(small_image(), at::kXType, type)),
              fmt::format("byte 122: type={} (tensor \"x\"): a known ggml type", type));
  }
}

TEST(GgufMalformed, RemovedTensorTypeIsNamed) {
  EXPECT_EQ(refusal(patched(small_image(), at::kXType, uint32_t{31})),
            "byte 122: type=31 (tensor \"x\"): a current ggml type, q4_0_4_4 was removed");
}

TEST(GgufMalformed, OffsetOffTheAlignment) {
  EXPECT_EQ(refusal(patched(small_image(), at::kYOffset, uint64_t{33})),
            "byte 167: offset=33 (tensor \"y\"): a multiple of 32");
}

TEST(GgufMalformed, OffsetBeyondTheFile) {
  EXPECT_EQ(refusal(patched(small_image(), at::kYOffset, uint64_t{160})),
            "byte 167: offset=160 (tensor \"y\"): 68 bytes from there, inside the 128 bytes from "
            "byte 192 on");
}

TEST(GgufMalformed, ExtentBeyondTheFile) {
  EXPECT_EQ(refusal(patched(small_image(), at::kYOffset, uint64_t{64})),
            "byte 167: offset=64 (tensor \"y\"): 68 bytes from there, inside the 128 bytes from "
            "byte 192 on");
}

TEST(GgufMalformed, OffsetWhoseEndWraps) {
  EXPECT_EQ(refusal(patched(small_image(), at::kYOffset, uint64_t{0x7fffffffffffffe0})),
            "byte 167: offset=9223372036854775776 (tensor \"y\"): 68 bytes from there, inside the "
            "128 bytes from byte 192 on");
  EXPECT_EQ(refusal(patched(small_image(), at::kYOffset, uint64_t{0xffffffffffffffe0})),
            "byte 167: offset=18446744073709551584 (tensor \"y\"): below 2^63");
}

TEST(GgufMalformed, OverlappingTensors) {
  EXPECT_EQ(refusal(patched(small_image(), at::kYOffset, uint64_t{0})),
            "byte 167: offset=0 (tensor \"y\"): outside tensor \"x\", bytes 0 to 32 of the tensor "
            "data");
  EXPECT_EQ(refusal(patched(small_image(), at::kXOffset, uint64_t{96})),
            "byte 126: offset=96 (tensor \"x\"): outside tensor \"y\", bytes 32 to 100 of the "
            "tensor data");
}

TEST(GgufMalformed, TruncatedValue) {
  EXPECT_EQ(refusal(one_entry_image(GgufType::kU64, "1234")),
            "byte 37: value=truncated (key \"k\"): 8 bytes, the file has 4 left");
}

TEST(GgufMalformed, TruncationNamesTheField) {
  const auto cut = [](size_t size) { return refusal(small_image().substr(0, size)); };
  EXPECT_EQ(cut(3), "byte 0: magic=truncated: 4 bytes, the file has 3 left");
  EXPECT_EQ(cut(6), "byte 4: version=truncated: 4 bytes, the file has 2 left");
  EXPECT_EQ(cut(8), "byte 8: n_tensors=truncated: 8 bytes, the file has 0 left");
  EXPECT_EQ(cut(at::kKv + 7), "byte 16: n_kv=truncated: 8 bytes, the file has 7 left");
  EXPECT_EQ(cut(at::kYType + 2),
            "byte 163: type=truncated (tensor \"y\"): 4 bytes, the file has 2 left");
  EXPECT_EQ(
      cut(at::kYEnd - 1),
      "byte 167: offset=32 (tensor \"y\"): 68 bytes from there, inside the 99 bytes from byte "
      "192 on");
}

}  // namespace
}  // namespace planegate::test
