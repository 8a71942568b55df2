#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/gguf/model.h>

#include "gguf_bytes.h"

namespace planegate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string part(int number) {
  return "split-0000" + std::to_string(number) + "-of-00003.gguf";
}

// A copy of another writer's split of five tensors, 2 + 2 + 1, whose bytes a test may change.
class GgufModelSplit : public testing::Test {
 protected:
  GgufModelSplit() {
    for (int number = 1; number <= 3; ++number) {
      std::filesystem::copy_file(PLANEGATE_TEST_DATA "/" + part(number), path(number));
    }
  }

  std::string path(int number) const { return dir_ / part(number); }

  void patch(int number, int64_t offset, const std::string& bytes) const {
    std::string image = read_file(path(number));
    write_file(path(number), image.replace(static_cast<size_t>(offset), bytes.size(), bytes));
  }

  template <class T>
  int64_t set(int number, const std::string& key, T value) const {
    const int64_t offset = GgufFile::open(path(number)).find(key)->offset();
    patch(number, offset, bytes_of(value));
    return offset;
  }

  void rename_key(int number, const std::string& key) const {
    const int64_t value = GgufFile::open(path(number)).find(key)->offset();
    patch(number, value - 4 - std::ssize(key), "x");
  }

  std::string refusal(const std::string& opened) const {
    try {
      (void)GgufModel::open(opened);
      return "accepted";
    } catch (const GgufError& e) {
      EXPECT_TRUE(e.path().starts_with(dir_.path().string()));
      return std::string(e.what()).substr(dir_.path().string().size() + 1);
    }
  }

  // `text` as docs/gguf-malformed.md has it: NAME for the split, no folder.
  void expect_documented(std::string text) const {
    for (const std::string& cut : {dir_.path().string() + "/", std::string("split-0")}) {
      const std::string into = cut == "split-0" ? "NAME-0" : "";
      for (size_t i = 0; (i = text.find(cut, i)) != std::string::npos; i += into.size()) {
        text.replace(i, cut.size(), into);
      }
    }
    EXPECT_THAT(read_file(PLANEGATE_TEST_DATA "/../../docs/gguf-malformed.md"),
                HasSubstr("`" + text + "`"));
  }

  TempDir dir_;
};

TEST_F(GgufModelSplit, AnyPartOpensAllParts) {
  for (int given = 1; given <= 3; ++given) {
    const GgufModel model = GgufModel::open(path(given));
    std::vector<std::string> paths, names;
    for (const GgufFile& file : model.files()) paths.push_back(file.path());
    for (const ModelTensor& tensor : model.tensors()) names.push_back(tensor.name());
    EXPECT_THAT(paths, ElementsAre(path(1), path(2), path(3)));
    EXPECT_THAT(names,
                ElementsAre("blk.0.ffn_down.weight", "blk.0.attn_norm.weight",
                            "blk.1.attn_norm.weight", "blk.1.ffn_down.weight", "output.weight"));
  }
}

TEST_F(GgufModelSplit, TensorHasItsFileAndBytes) {
  GgufModel first = GgufModel::open(path(1));
  const GgufModel model = std::move(first);
  const ModelTensor* tensor = model.tensor("output.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->file->path(), path(3));
  const RawTensor raw = tensor->raw();
  EXPECT_EQ(raw.shape, Shape(5, 256));
  std::string expected;
  for (int i = 0; i < 5 * 210; ++i) expected += static_cast<char>(7 * i + 13 * 4 + 1);
  for (size_t row = 0; row < 5; ++row) expected.replace(row * 210 + 208, 2, {'\0', '\x24'});
  EXPECT_EQ(text_of(raw.bytes), expected);
  EXPECT_EQ(model.tensor("output"), nullptr);
}

TEST_F(GgufModelSplit, RelativePathsFindTheirParts) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.path());
  const size_t files = GgufModel::open(part(2)).files().size();
  std::filesystem::current_path(before);
  EXPECT_EQ(files, 3u);
}

TEST_F(GgufModelSplit, MissingPartIsNamed) {
  std::filesystem::remove(path(2));
  expect_documented(refusal(path(3)));
  EXPECT_EQ(refusal(path(3)), part(2) +
                                  ": byte 0: file=No such file or directory (part 2 of 3): a "
                                  "readable regular file with content");
  EXPECT_EQ(
      refusal(path(2)),
      part(2) + ": byte 0: file=No such file or directory: a readable regular file with content");
}

TEST_F(GgufModelSplit, MalformedPartIsNamed) {
  patch(3, 0, "JUNK");
  EXPECT_EQ(refusal(path(1)), part(3) + ": byte 0: magic=0x4b4e554a: \"GGUF\"");
}

TEST_F(GgufModelSplit, PartUnderAnotherNameIsNamed) {
  std::filesystem::copy_file(path(1), path(2), std::filesystem::copy_options::overwrite_existing);
  const int64_t offset = GgufFile::open(path(1)).find("split.no")->offset();
  EXPECT_EQ(refusal(path(3)), part(2) + ": byte " + std::to_string(offset) +
                                  ": split.no=0: 1, as the file's name says");
  expect_documented(refusal(path(3)));
}

TEST_F(GgufModelSplit, PartOfAnotherSplitIsNamed) {
  const std::string offset = std::to_string(set<uint16_t>(2, "split.count", 4));
  const std::string text =
      part(2) + ": byte " + offset + ": split.count=4: 3, as the file's name says";
  EXPECT_EQ(refusal(path(1)), text);
  EXPECT_EQ(refusal(path(2)), text);
  expect_documented(text);
}

TEST_F(GgufModelSplit, PartWithoutItsMetadataIsNamed) {
  rename_key(2, "split.count");
  const std::string text = part(2) + ": byte 24: split.count=absent: 3, as the file's name says";
  EXPECT_EQ(refusal(path(1)), text);
  EXPECT_EQ(refusal(path(2)), text);
  expect_documented(text);
  rename_key(3, "split.no");
  EXPECT_EQ(refusal(path(3)), part(3) + ": byte 24: split.no=absent: 2, as the file's name says");
}

TEST_F(GgufModelSplit, MetadataOfAnotherTypeIsRefused) {
  const int64_t value = GgufFile::open(path(1)).find("split.no")->offset();
  patch(1, value - 4, bytes_of(GgufType::kI16));
  EXPECT_EQ(refusal(path(1)), part(1) + ": byte " + std::to_string(value - 4) +
                                  ": value type=i16 (key \"split.no\"): type u16");
}

TEST_F(GgufModelSplit, LostTensorsAreNoticedInEveryPart) {
  for (int number = 1; number <= 3; ++number) {
    const std::string offset = std::to_string(set<int32_t>(number, "split.tensors.count", 6));
    EXPECT_EQ(refusal(path(2)), part(number) + ": byte " + offset +
                                    ": split.tensors.count=6: 5, the tensors of all 3 parts");
    if (number == 1) expect_documented(refusal(path(2)));
    set<int32_t>(number, "split.tensors.count", 5);
  }
  rename_key(3, "split.tensors.count");
  EXPECT_EQ(refusal(path(1)),
            part(3) + ": byte 24: split.tensors.count=absent: 5, the tensors of all 3 parts");
}

TEST_F(GgufModelSplit, TensorInTwoPartsIsNamedWithBoth) {
  const int64_t entry = GgufFile::open(path(2)).tensor("blk.1.ffn_down.weight")->entry_offset;
  patch(2, entry + 8, "blk.0");
  EXPECT_EQ(refusal(path(1)), part(2) + ": byte " + std::to_string(entry) +
                                  ": name=\"blk.0.ffn_down.weight\" (tensor 1): only once in a "
                                  "model, it stands in " +
                                  path(1) + " too");
  expect_documented(refusal(path(1)));
}

TEST_F(GgufModelSplit, PartWithANameOfItsOwnIsRefused) {
  const std::string ends = ": ends in -00001-of-00003.gguf to -00003-of-00003.gguf, as a part of 3";
  for (const char* name : {"other.gguf", "split-00004-of-00003.gguf", "split-00000-of-00003.gguf",
                           "split-0001-of-00003.gguf", "split-00001-of-00003.ggml"}) {
    std::filesystem::copy_file(path(1), dir_ / name);
    EXPECT_EQ(refusal(dir_ / name),
              std::string(name) + ": byte 0: file name=\"" + name + "\"" + ends);
  }
  expect_documented(refusal(dir_ / "other.gguf"));
}

TEST_F(GgufModelSplit, CountOf65535EndsAtTheFirstMissingPart) {
  const std::string name = "split-00001-of-65535.gguf";
  set<uint16_t>(1, "split.count", 65'535);
  std::filesystem::rename(path(1), dir_ / name);
  EXPECT_EQ(refusal(dir_ / name),
            "split-00002-of-65535.gguf: byte 0: file=No such file or directory (part 2 of 65535): "
            "a readable regular file with content");
}

TEST(GgufModel, OneFileIsAWholeModel) {
  const TempDir dir;
  for (const char* name : {"model.gguf", "-00001-of-00001.gguf", "x", "a-00000-of-00000.gguf"}) {
    write_file(dir / name, small_image());
    const GgufModel model = GgufModel::open(dir / name);
    EXPECT_EQ(model.files().size(), 1u);
    ASSERT_EQ(model.tensors().size(), 2u);
    EXPECT_EQ(model.tensor("y"), &model.tensors()[1]);
    EXPECT_EQ(text_of(model.tensor("y")->raw().bytes), text_of(counting_bytes(68)));
  }
}

TEST(GgufModel, SplitOfOnePartIsAWholeModel) {
  const TempDir dir;
  std::string image = read_file(PLANEGATE_TEST_DATA "/split-00003-of-00003.gguf");
  const GgufFile file = GgufFile::open(PLANEGATE_TEST_DATA "/split-00003-of-00003.gguf");
  image = patched(image, static_cast<size_t>(file.find("split.count")->offset()), uint16_t{1});
  write_file(dir / "any-name.gguf", image);
  EXPECT_EQ(GgufModel::open(dir / "any-name.gguf").tensors().size(), 1u);
}

}  // namespace
}  // namespace planegate::test
