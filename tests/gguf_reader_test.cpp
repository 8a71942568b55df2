#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gguf_bytes.h"

namespace planegate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GgufFile mixed() {
  return GgufFile::open(PLANEGATE_TEST_DATA "/mixed.gguf");
}

std::string outside_payload(int t, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(7 * i + 13 * t + 1);
  return bytes;
}

TEST(GgufReader, ReadsScalarsOfAnOutsideWriter) {
  const GgufFile model = mixed();
  EXPECT_EQ(model.version(), 3u);
  EXPECT_EQ(model.metadata().size(), 27u);
  EXPECT_EQ(model.get<std::string_view>("general.architecture"), "test");
  EXPECT_EQ(model.get<uint8_t>("test.u8"), 255);
  EXPECT_EQ(model.get<int8_t>("test.i8"), -128);
  EXPECT_EQ(model.get<uint16_t>("test.u16"), 65'535);
  EXPECT_EQ(model.get<int16_t>("test.i16"), -32'768);
  EXPECT_EQ(model.get<uint32_t>("test.u32"), 4'294'967'295u);
  EXPECT_EQ(model.get<int32_t>("test.i32"), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(model.get<float>("test.f32"), 1.5f);
  EXPECT_EQ(model.get<bool>("test.bool"), true);
  EXPECT_EQ(model.get<std::string_view>("test.string"),
            "gr\xc3\xbc\xc3\x9f"
            "e");
  EXPECT_EQ(model.get<std::string_view>("test.empty"), "");
  EXPECT_EQ(model.get<uint64_t>("test.u64"), ~uint64_t{0});
  EXPECT_EQ(model.get<int64_t>("test.i64"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(model.get<double>("test.f64"), std::numbers::pi);
}

template <class T>
std::vector<T> array(const GgufFile& model, const std::string& name) {
  return model.get<GgufArray>("test.array." + name)->values<T>();
}

TEST(GgufReader, ReadsArraysOfAnOutsideWriter) {
  const GgufFile model = mixed();
  EXPECT_THAT(array<uint8_t>(model, "u8"), ElementsAre(1, 2, 255));
  EXPECT_THAT(array<int8_t>(model, "i8"), ElementsAre(-1, 0, 127));
  EXPECT_THAT(array<uint16_t>(model, "u16"), ElementsAre(1, 65'535));
  EXPECT_THAT(array<int16_t>(model, "i16"), ElementsAre(-2, 32'767));
  EXPECT_THAT(array<uint32_t>(model, "u32"), ElementsAre(7, 8, 9));
  EXPECT_THAT(array<int32_t>(model, "i32"), ElementsAre(-7, 8));
  EXPECT_THAT(array<float>(model, "f32"), ElementsAre(0.5f, -2.0f));
  EXPECT_THAT(array<bool>(model, "bool"), ElementsAre(true, false, true));
  EXPECT_THAT(array<std::string_view>(model, "string"), ElementsAre("a", "", "ccc"));
  EXPECT_THAT(array<uint64_t>(model, "u64"), ElementsAre(uint64_t{1} << 40));
  EXPECT_THAT(array<int64_t>(model, "i64"), ElementsAre(-(int64_t{1} << 40), 3));
  EXPECT_THAT(array<double>(model, "f64"), ElementsAre(0.25, 1e300));

  const auto nested = array<GgufArray>(model, "nested");
  ASSERT_EQ(nested.size(), 2u);
  EXPECT_EQ(nested[1].element_type(), GgufType::kI32);
  EXPECT_THAT(nested[0].values<int32_t>(), ElementsAre(1, 2));
  EXPECT_THAT(nested[1].values<int32_t>(), ElementsAre(3));
}

struct OutsideTensor {
  std::string name;
  std::string format;
  int64_t od;
  int64_t id;
  int size_bytes;
};

TEST(GgufReader, ReadsTensorsOfAnOutsideWriter) {
  const GgufFile model = mixed();
  const std::vector<OutsideTensor> expected = {
      {"blk.0.ffn_down.weight", "q6_K", 3, 512, 1260},
      {"blk.0.attn_norm.weight", "f32", 1, 5, 20},
      {"blk.0.attn_q.weight", "q4_0", 2, 64, 72},
      {"blk.0.ffn_exps.weight", "q8_0", 6, 32, 204},
      {"four.dims", "f16", 8, 3, 48},
      {std::string(64, 'n'), "q4_K", 1, 256, 144},
  };
  ASSERT_EQ(model.tensors().size(), expected.size());
  for (size_t t = 0; t < expected.size(); ++t) {
    SCOPED_TRACE(expected[t].name);
    const GgufTensor* tensor = model.tensor(expected[t].name);
    ASSERT_EQ(tensor, &model.tensors()[t]);
    const RawTensor raw = model.raw(*tensor);
    EXPECT_EQ(raw.name, expected[t].name);
    EXPECT_EQ(raw.format, expected[t].format);
    EXPECT_EQ(raw.shape, Shape(expected[t].od, expected[t].id));
    EXPECT_EQ(text_of(raw.bytes), outside_payload(static_cast<int>(t), expected[t].size_bytes));
  }
  EXPECT_THAT(model.tensor("four.dims")->ne, ElementsAre(3, 2, 2, 2));
  EXPECT_EQ(model.tensor("four.dims")->n_dims, 4);
}

TEST(GgufReader, ReadsAScalarOfAnOutsideWriter) {
  const GgufFile model = GgufFile::open(PLANEGATE_TEST_DATA "/scalar.gguf");
  const GgufTensor& tensor = *model.tensor("s");
  EXPECT_EQ(tensor.n_dims, 0);
  EXPECT_EQ(model.raw(tensor).shape, Shape(1, 1));
  EXPECT_EQ(text_of(model.bytes(tensor)), bytes_of(2.5f));
}

TEST(GgufReader, ReadsAnotherAlignmentOfAnOutsideWriter) {
  const GgufFile model = GgufFile::open(PLANEGATE_TEST_DATA "/aligned_128.gguf");
  EXPECT_EQ(model.alignment(), 128);
  EXPECT_EQ(model.data_offset() % 128, 0);
  EXPECT_EQ(model.tensor("t1")->offset, 128);
  EXPECT_EQ(text_of(model.raw(*model.tensor("t1")).bytes), outside_payload(1, 34));
}

TEST(GgmlTypes, BlocksAreThoseOfAnOutsideWriter) {
  const GgufFile model = GgufFile::open(PLANEGATE_TEST_DATA "/every_type.gguf");
  const auto& tensors = model.tensors();
  ASSERT_EQ(tensors.size(), ggml_types().size());
  for (size_t t = 0; t < tensors.size(); ++t) {
    SCOPED_TRACE(tensors[t].name);
    std::string name = tensors[t].type->name;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    EXPECT_EQ(name, tensors[t].name);
    EXPECT_EQ(tensors[t].ne[0], tensors[t].type->block_elems);
    if (t + 1 == tensors.size()) continue;
    // That writer still has the q8_1 block of old: two f32 where ggml has two f16.
    const int64_t gap = name == "Q8_1" ? 4 : 0;
    EXPECT_EQ(tensors[t].offset + tensors[t].size_bytes + gap, tensors[t + 1].offset);
  }
}

TEST(GgmlTypes, NamesAndNumbersFindEachOther) {
  for (const GgmlType& type : ggml_types()) {
    EXPECT_EQ(ggml_type(type.number), &type);
    EXPECT_EQ(ggml_type(type.name), &type);
    EXPECT_EQ(removed_ggml_type(type.number), nullptr);
  }
  EXPECT_EQ(ggml_type("q6_K")->block_bytes, 210);
  EXPECT_EQ(ggml_type("q6_k"), nullptr);
  for (const uint32_t number : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u}) {
    EXPECT_EQ(ggml_type(number), nullptr);
    EXPECT_NE(removed_ggml_type(number), nullptr);
  }
}

TEST(GgmlTypes, SizeIsAFaultWhereItWraps) {
  const auto fault = [](const char* type, std::vector<int64_t> ne) {
    const auto size = tensor_bytes(*ggml_type(type), ne);
    const auto* found = std::get_if<TensorFault>(&size);
    return found == nullptr ? std::to_string(std::get<int64_t>(size)) : found->requirement;
  };
  constexpr int64_t kBig = int64_t{1} << 32;
  EXPECT_EQ(fault("q6_K", {512, 3}), "1260");
  EXPECT_EQ(fault("i8", {kBig, kBig / 4, 1, 1}), "4611686018427387904");
  EXPECT_EQ(fault("i8", {kBig, kBig / 2}), "a product below 2^63");
  EXPECT_EQ(fault("i8", {kBig, kBig, kBig, kBig}), "a product below 2^63");
  EXPECT_EQ(fault("q1_0", {kBig, kBig}), "a product below 2^63");
  EXPECT_EQ(fault("f16", {kBig, kBig / 4}), "a size in bytes below 2^63 as f16");
  EXPECT_EQ(fault("f32", {}), "1 to 4");
  EXPECT_EQ(fault("f32", {1, 1, 1, 1, 1}), "1 to 4");
  EXPECT_EQ(fault("f32", {1, -1}), "at least 1");
}

TEST(GgufReader, AbsentKeyOrTensorIsNoError) {
  const GgufFile model = mixed();
  EXPECT_EQ(model.find("test"), nullptr);
  EXPECT_EQ(model.get<uint32_t>("test"), std::nullopt);
  EXPECT_EQ(model.tensor("blk"), nullptr);
}

TEST(GgufReader, RefusesAValueOfAnotherType) {
  const TempDir dir;
  const GgufFile model = open_image(dir, small_image());
  const auto text_of_error = [&](auto ask) -> std::string {
    try {
      ask();
      return "accepted";
    } catch (const GgufError& e) {
      return std::string(e.what()).substr(model.path().size());
    }
  };
  EXPECT_EQ(text_of_error([&] { model.get<std::string_view>("a"); }),
            ": byte 33: value type=u32 (key \"a\"): type string");
  EXPECT_EQ(text_of_error([&] { model.get<GgufArray>("v")->values<float>(); }),
            ": byte 77: array element type=u32 (key \"v\"): type f32");
  EXPECT_EQ(text_of_error([&] { model.get<uint32_t>("a"); }), "accepted");
}

TEST(GgufReader, ViewsOutliveAMove) {
  const TempDir dir;
  GgufFile first = open_image(dir, small_image());
  const GgufValue* entry = first.find("s");
  const auto bytes = first.raw(first.tensors()[0]).bytes;
  const GgufFile second = std::move(first);
  EXPECT_EQ(entry->as<std::string_view>(), "hi");
  EXPECT_EQ(second.find("s"), entry);
  EXPECT_EQ(text_of(bytes), text_of(counting_bytes(32)));
  EXPECT_EQ(second.raw(*second.tensor("x")).bytes.data(), bytes.data());
}

TEST(GgufReader, ReadsAFileInMemory) {
  const std::string image = small_image();
  const auto bytes = std::as_bytes(std::span(image));
  const GgufFile model = GgufFile::of_bytes("in memory", bytes);
  EXPECT_EQ(model.path(), "in memory");
  EXPECT_EQ(model.bytes(*model.tensor("y")).data(), bytes.data() + at::kYData);
  try {
    GgufFile::of_bytes("in memory", bytes.first(3));
    ADD_FAILURE() << "accepted";
  } catch (const GgufError& e) {
    EXPECT_STREQ(e.what(), "in memory: byte 0: magic=truncated: 4 bytes, the file has 3 left");
  }
}

TEST(GgufReader, LeavesTheMemoryOfItsCallerAlone) {
  const std::string image = small_image();
  constexpr size_t kPage = 4096;
  const std::unique_ptr<char, decltype(&std::free)> page(
      static_cast<char*>(std::aligned_alloc(kPage, kPage)), &std::free);
  std::copy(image.begin(), image.end(), page.get());
  const std::string_view held(page.get(), image.size());
  GgufFile::of_bytes("in memory", std::as_bytes(std::span(held)));
  EXPECT_EQ(held, image);
}

TEST(GgufReader, FindsEachOfManyNamesInAnyOrder) {
  std::vector<std::string> names;
  for (int i = 0; i < 257; ++i) names.push_back(std::to_string(i * 101 % 257));
  GgufWriter writer;
  for (const std::string& name : names) {
    writer.add_string("key " + name, name);
    writer.add_tensor(name, "i8", {1}, counting_bytes(1));
  }
  const TempDir dir;
  const GgufFile model = open_image(dir, image_of(writer));
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(model.tensor(names[i]), &model.tensors()[i]);
    EXPECT_EQ(model.get<std::string_view>("key " + names[i]), names[i]);
    EXPECT_EQ(model.tensor(names[i] + " "), nullptr);
    EXPECT_EQ(model.find(names[i]), nullptr);
  }
}

TEST(GgufReader, AcceptsVersion2) {
  const TempDir dir;
  const GgufFile model = open_image(dir, patched(small_image(), at::kVersion, uint32_t{2}));
  EXPECT_EQ(model.version(), 2u);
  EXPECT_EQ(text_of(model.bytes(*model.tensor("y"))), text_of(counting_bytes(68)));
}

TEST(GgufReader, AcceptsTrailingBytesOrNone) {
  const TempDir dir;
  const std::string image = small_image();
  for (const std::string& other : {image + "trailing", image.substr(0, at::kYEnd)}) {
    const GgufFile model = open_image(dir, other);
    EXPECT_EQ(text_of(model.bytes(*model.tensor("y"))), text_of(counting_bytes(68)));
  }
}

TEST(GgufReader, AcceptsGapsAndAnyOrderOfTensors) {
  const TempDir dir;
  std::string image = patched(small_image(), at::kXOffset, uint64_t{128});
  image = patched(image, at::kYOffset, uint64_t{0}) + std::string(32, 'x');
  const GgufFile model = open_image(dir, image);
  EXPECT_EQ(text_of(model.bytes(*model.tensor("x"))), std::string(32, 'x'));
  EXPECT_EQ(text_of(model.bytes(*model.tensor("y"))), image.substr(at::kData, 68));
}

TEST(GgufReader, AcceptsNothingButAHeader) {
  const TempDir dir;
  const GgufFile model = open_image(dir, small_image().substr(0, 8) + std::string(16, '\0'));
  EXPECT_THAT(model.metadata(), IsEmpty());
  EXPECT_THAT(model.tensors(), IsEmpty());
}

TEST(GgufReader, AcceptsAnyAlignmentWhereThereIsNothingToAlign) {
  const TempDir dir;
  GgufWriter(int64_t{1} << 20).write(dir / "large.gguf");
  const std::string image = read_file(dir / "large.gguf").substr(0, 64);
  EXPECT_EQ(open_image(dir, image).alignment(), 1 << 20);
}

TEST(GgufReader, AcceptsMetadataWithoutTensors) {
  const TempDir dir;
  const GgufFile model = open_image(dir, one_entry_image(GgufType::kString, std::string(8, '\0')));
  EXPECT_EQ(model.get<std::string_view>("k"), "");
  EXPECT_EQ(model.find("k")->offset(), kOneEntryValue);
}

TEST(GgufReader, AcceptsEmptyArraysAndFourLevels) {
  const TempDir dir;
  const std::string empty = array_head(GgufType::kString, 0);
  EXPECT_EQ(open_image(dir, one_entry_image(GgufType::kArray, empty)).get<GgufArray>("k")->size(),
            0);
  std::string nested;
  for (int depth = 1; depth <= 3; ++depth) nested += array_head(GgufType::kArray, 1);
  nested += array_head(GgufType::kU8, 1) + "\5";
  const GgufFile model = open_image(dir, one_entry_image(GgufType::kArray, nested));
  GgufArray inner = *model.get<GgufArray>("k");
  for (int depth = 1; depth <= 3; ++depth) inner = inner.values<GgufArray>().at(0);
  EXPECT_THAT(inner.values<uint8_t>(), ElementsAre(5));
}

std::string file_refusal(const std::filesystem::path& path) {
  try {
    GgufFile::open(path);
    return "accepted";
  } catch (const GgufError& e) {
    EXPECT_EQ(e.path(), path.string());
    EXPECT_EQ(e.field(), "file");
    EXPECT_EQ(e.requirement(), "a readable regular file with content");
    return e.value();
  }
}

TEST(GgufReader, NamesWhyAFileCannotBeRead) {
  const TempDir dir;
  write_file(dir / "empty.gguf", "");
  ASSERT_EQ(::mkfifo((dir / "pipe.gguf").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop.gguf", dir / "loop.gguf");
  EXPECT_EQ(file_refusal(dir / "none.gguf"), "No such file or directory");
  EXPECT_EQ(file_refusal(dir.path()), "a directory");
  EXPECT_EQ(file_refusal(dir / "empty.gguf"), "empty");
  EXPECT_EQ(file_refusal(dir / "pipe.gguf"), "not a regular file");
  EXPECT_EQ(file_refusal(dir / "loop.gguf"), "Too many levels of symbolic links");
}

TEST(GgufReader, NamesAFileWithoutPermission) {
  const TempDir dir;
  write_file(dir / "secret.gguf", small_image());
  ASSERT_EQ(::chmod((dir / "secret.gguf").c_str(), 0), 0);
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  const uid_t self = ::geteuid();
  // Root reads everything: ask as a user that owns nothing.
  ASSERT_EQ(::seteuid(self == 0 ? 65'534 : self), 0);
  const std::string value = file_refusal(dir / "secret.gguf");
  ASSERT_EQ(::seteuid(self), 0);
  EXPECT_EQ(value, "Permission denied");
}

}  // namespace
}  // namespace planegate::test
