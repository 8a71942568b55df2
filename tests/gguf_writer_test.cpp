#include <csignal>
#include <stdexcept>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <planegate/core/errors.h>

#include "gguf_bytes.h"

namespace planegate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_in(const TempDir& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

template <class Error, class Call>
std::string error_of(Call call) {
  try {
    call();
    return "no error";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(GgufWriter, RoundTripsMetadata) {
  GgufWriter writer;
  writer.add_u32("u32", 5);
  writer.add_u64("u64", ~uint64_t{0});
  writer.add_f32("f32", -0.25f);
  writer.add_string("string", "two\nlines");
  writer.add_string("empty", "");
  writer.add_array("numbers", std::vector<uint32_t>{3, 1, 2});
  writer.add_array("texts", std::vector<std::string>{"a", "", "b"});
  writer.add_array("none", std::vector<std::string>{});
  const TempDir dir;
  writer.write(dir / "m.gguf");

  const GgufFile model = GgufFile::open(dir / "m.gguf");
  EXPECT_EQ(model.version(), 3u);
  ASSERT_EQ(model.metadata().size(), 8u);
  EXPECT_EQ(model.metadata()[3].key(), "string");
  EXPECT_EQ(model.get<uint32_t>("u32"), 5u);
  EXPECT_EQ(model.get<uint64_t>("u64"), ~uint64_t{0});
  EXPECT_EQ(model.get<float>("f32"), -0.25f);
  EXPECT_EQ(model.get<std::string_view>("string"), "two\nlines");
  EXPECT_EQ(model.get<std::string_view>("empty"), "");
  EXPECT_THAT(model.get<GgufArray>("numbers")->values<uint32_t>(), ElementsAre(3, 1, 2));
  EXPECT_THAT(model.get<GgufArray>("texts")->values<std::string_view>(), ElementsAre("a", "", "b"));
  EXPECT_EQ(model.get<GgufArray>("none")->size(), 0);
}

TEST(GgufWriter, RoundTripsTensorsAtAnyAlignment) {
  for (const int64_t alignment : {1, 8, 32, 64, 4096}) {
    SCOPED_TRACE(alignment);
    GgufWriter writer(alignment);
    writer.add_tensor("odd", "i8", {3}, counting_bytes(3));
    writer.add_tensor(std::string(64, 'n'), "q6_K", {512, 3}, counting_bytes(1260));
    writer.add_tensor("four", "f16", {1, 2, 3, 2}, counting_bytes(24));
    const TempDir dir;
    writer.write(dir / "m.gguf");

    const GgufFile model = GgufFile::open(dir / "m.gguf");
    EXPECT_EQ(model.alignment(), alignment);
    ASSERT_EQ(model.tensors().size(), 3u);
    for (const GgufTensor& tensor : model.tensors()) {
      const RawTensor raw = model.raw(tensor);
      EXPECT_EQ(text_of(raw.bytes), text_of(counting_bytes(raw.bytes.size()))) << raw.name;
    }
    EXPECT_EQ(model.raw(model.tensors()[1]).shape, Shape(3, 512));
    EXPECT_THAT(model.tensors()[2].ne, ElementsAre(1, 2, 3, 2));
    EXPECT_EQ(std::filesystem::file_size(dir / "m.gguf") % static_cast<uintmax_t>(alignment), 0u);
  }
}

TEST(GgufWriter, LaysASmallFileOutAsSpecified) {
  const std::string image = small_image();
  ASSERT_EQ(image.size(), at::kEnd);
  EXPECT_EQ(image.substr(0, 8), "GGUF" + bytes_of(uint32_t{3}));
  EXPECT_EQ(image.substr(at::kFirstKey, 17),
            bytes_of(uint64_t{1}) + "a" + bytes_of(uint32_t{4}) + bytes_of(uint32_t{7}));
  EXPECT_EQ(image.substr(at::kY, at::kDirectoryEnd - at::kY),
            bytes_of(uint64_t{1}) + "y" + bytes_of(uint32_t{2}) + bytes_of(uint64_t{32}) +
                bytes_of(uint64_t{2}) + bytes_of(uint32_t{8}) + bytes_of(uint64_t{32}));
  EXPECT_EQ(image.substr(at::kYData, 68), text_of(counting_bytes(68)));
  EXPECT_EQ(image.substr(at::kYEnd), std::string(at::kEnd - at::kYEnd, '\0'));
}

TEST(GgufWriter, FillsTensorsOneByOneFromZero) {
  GgufWriter writer;
  writer.add_tensor("all", "i8", {4},
                    [](std::span<std::byte> b) { std::ranges::fill(b, std::byte{7}); });
  writer.add_tensor("first", "i8", {4}, [](std::span<std::byte> b) { b[0] = std::byte{9}; });
  const TempDir dir;
  writer.write(dir / "m.gguf");
  const GgufFile model = GgufFile::open(dir / "m.gguf");
  EXPECT_EQ(text_of(model.bytes(*model.tensor("all"))), "\7\7\7\7");
  EXPECT_EQ(text_of(model.bytes(*model.tensor("first"))), std::string("\t\0\0\0", 4));
}

TEST(GgufWriter, RefusesWrongMetadata) {
  GgufWriter writer;
  writer.add_u32("a", 1);
  const auto error = [&](const std::string& key) {
    return error_of<ContractError>([&] { writer.add_u64(key, 1); });
  };
  EXPECT_EQ(error("a"), "key=\"a\": only once in a file");
  EXPECT_EQ(error(""), "key=\"\": 1 to 65535 bytes");
  EXPECT_THAT(error(std::string(65'536, 'k')), HasSubstr("1 to 65535 bytes"));
  EXPECT_EQ(error("general.alignment"),
            "key=\"general.alignment\": given to the constructor, not added");
  EXPECT_EQ(error(std::string(65'535, 'k')), "no error");
}

TEST(GgufWriter, RefusesAnAlignmentThatIsNoPowerOfTwo) {
  for (const int64_t alignment : {int64_t{0}, int64_t{-32}, int64_t{24}, int64_t{1} << 32}) {
    EXPECT_EQ(error_of<ContractError>([&] { GgufWriter writer(alignment); }),
              "alignment=" + std::to_string(alignment) + ": a power of two, at most 2^31");
  }
}

TEST(GgufWriter, RefusesWrongTensors) {
  GgufWriter writer;
  writer.add_tensor("x", "f32", {1}, counting_bytes(4));
  const auto error = [&](std::string name, const char* type, std::vector<int64_t> ne, size_t size) {
    return error_of<ContractError>(
        [&] { writer.add_tensor(name, type, ne, counting_bytes(size)); });
  };
  EXPECT_EQ(error("x", "f32", {1}, 4), "name=\"x\": only once in a file");
  EXPECT_EQ(error("", "f32", {1}, 4), "name=\"\": 1 to 64 bytes");
  EXPECT_THAT(error(std::string(65, 'n'), "f32", {1}, 4), HasSubstr("1 to 64 bytes"));
  EXPECT_EQ(error("y", "q6_k", {256}, 210), "type=\"q6_k\": a current ggml type");
  EXPECT_EQ(error("y", "q6_K", {255}, 210), "ne[0]=255: a multiple of 256 for q6_K (tensor \"y\")");
  EXPECT_EQ(error("y", "f32", {2, 0}, 0), "ne[1]=0: at least 1 (tensor \"y\")");
  EXPECT_EQ(error("y", "f32", {}, 4), "n_dims=0: 1 to 4 (tensor \"y\")");
  EXPECT_EQ(error("y", "q6_K", {256}, 209), "bytes=209: 210 for tensor \"y\"");
  EXPECT_EQ(error("y", "q6_K", {256}, 210), "no error");
}

TEST(GgufWriter, RefusesAFillThatIsNull) {
  GgufWriter writer;
  EXPECT_EQ(error_of<ContractError>(
                [&] { writer.add_tensor("x", "f32", {1}, GgufWriter::Fill(nullptr)); }),
            "fill=null: a callable");
}

TEST(GgufWriter, RefusesASumOfSizesThatWraps) {
  GgufWriter writer;
  const auto nothing = [](std::span<std::byte>) {};
  writer.add_tensor("x", "i8", {int64_t{1} << 61}, nothing);
  EXPECT_THAT(
      error_of<ContractError>([&] { writer.add_tensor("y", "i8", {int64_t{1} << 61}, nothing); }),
      HasSubstr("size of all tensors=2305843009213693952: below 2^62"));
}

TEST(GgufWriter, ReplacesAnExistingFile) {
  const TempDir dir;
  write_file(dir / "m.gguf", "old");
  GgufWriter().write(dir / "m.gguf");
  EXPECT_TRUE(GgufFile::open(dir / "m.gguf").tensors().empty());
  EXPECT_THAT(names_in(dir), ElementsAre("m.gguf"));
}

TEST(GgufWriter, StepsAroundALeftoverTemporaryFile) {
  const TempDir dir;
  const std::string leftover = "m.gguf.tmp-" + std::to_string(::getpid()) + "-0";
  write_file(dir / leftover, "left");
  GgufWriter().write(dir / "m.gguf");
  EXPECT_EQ(read_file(dir / leftover), "left");
  EXPECT_THAT(names_in(dir), ::testing::UnorderedElementsAre("m.gguf", leftover));
}

TEST(GgufWriter, AThrowingFillLeavesTheTargetAlone) {
  const TempDir dir;
  write_file(dir / "m.gguf", "old");
  GgufWriter writer;
  writer.add_tensor("x", "f32", {1},
                    [](std::span<std::byte>) { throw std::runtime_error("no data"); });
  EXPECT_EQ(error_of<std::runtime_error>([&] { writer.write(dir / "m.gguf"); }), "no data");
  EXPECT_EQ(read_file(dir / "m.gguf"), "old");
  EXPECT_THAT(names_in(dir), ElementsAre("m.gguf"));
}

TEST(GgufWriter, AFullDiskLeavesTheTargetAlone) {
  const TempDir dir;
  write_file(dir / "m.gguf", "old");
  GgufWriter writer;
  writer.add_tensor("x", "i8", {100'000}, counting_bytes(100'000));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{50'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = error_of<std::system_error>([&] { writer.write(dir / "m.gguf"); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error,
            "filesystem error: cannot write: File too large [" + (dir / "m.gguf").string() + "]");
  EXPECT_EQ(read_file(dir / "m.gguf"), "old");
  EXPECT_THAT(names_in(dir), ElementsAre("m.gguf"));
}

TEST(GgufWriter, NamesWhyItCannotWrite) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "taken.gguf");
  const auto error = [&](const std::string& name) {
    return error_of<std::filesystem::filesystem_error>([&] { GgufWriter().write(dir / name); });
  };
  EXPECT_THAT(error("none/m.gguf"), HasSubstr("cannot create: No such file or directory ["));
  EXPECT_THAT(error("taken.gguf"), HasSubstr("cannot replace: Is a directory ["));
  EXPECT_THAT(names_in(dir), ElementsAre("taken.gguf"));
}

}  // namespace
}  // namespace planegate::test
