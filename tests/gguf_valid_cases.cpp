#include "gguf_bytes.h"
#include "gguf_cases.h"

namespace planegate::test {
namespace {

std::string aligned(int64_t alignment) {
  GgufWriter writer(alignment);
  writer.add_tensor("x", "i8", {3}, counting_bytes(3));
  writer.add_tensor("y", "q8_0", {32, 2}, counting_bytes(68));
  return image_of(writer);
}

std::string swapped() {
  const std::string image = patched(small_image(), at::kXOffset, uint64_t{128});
  return patched(image, at::kYOffset, uint64_t{0}) + std::string(32, 'x');
}

std::string named(const std::string& name) {
  GgufWriter writer;
  writer.add_tensor(name, "f32", {8}, counting_bytes(32));
  return image_of(writer);
}

std::string keyed(const std::string& key) {
  GgufWriter writer;
  writer.add_u32(key, 7);
  return image_of(writer);
}

std::string vocabulary(size_t words) {
  GgufWriter writer;
  std::vector<std::string> all(words);
  for (size_t i = 0; i < words; ++i) all[i] = std::string(i % 7, 'w') + std::to_string(i);
  writer.add_array("tokenizer.ggml.tokens", all);
  return image_of(writer);
}

std::string nested_four_deep() {
  std::string value;
  for (int i = 0; i < 3; ++i) value += array_head(GgufType::kArray, 1);
  return one_entry_image(GgufType::kArray, value + array_head(GgufType::kU8, 1) + "\5");
}

std::string data_file(const std::string& name) {
  return read_file(PLANEGATE_TEST_DATA "/" + name);
}

}  // namespace

std::vector<ValidCase> valid_cases() {
  const std::string image = small_image();
  const std::string no_word = one_entry_image(GgufType::kString, std::string(8, '\0'));
  const std::string no_words = one_entry_image(GgufType::kArray, array_head(GgufType::kString, 0));
  return {
      {"Plain", "nothing odd", image},
      {"EveryValueType", "every metadata type, another writer's", data_file("mixed.gguf")},
      {"EveryTensorType", "every tensor type, alignment 1", data_file("every_type.gguf")},
      {"Version2", "version 2", patched(image, at::kVersion, 2u)},
      {"HeaderOnly", "no entry, no tensor", image.substr(0, 8) + std::string(16, '\0')},
      {"NoTensor", "metadata without tensors", no_word},
      {"TrailingBytes", "bytes after the last tensor", image + "trailing"},
      {"NoFinalPadding", "no padding after the last tensor", image.substr(0, at::kYEnd)},
      {"TensorsSwapped", "tensors in another order than the directory", swapped()},
      {"Gap", "a gap between tensors: offset not the running sum",
       patched(image, at::kYOffset, uint64_t{64}) + std::string(32, 'x')},
      {"Alignment1", "alignment 1", aligned(1)},
      {"Alignment8", "alignment 8", aligned(8)},
      {"Alignment128", "alignment 128, another writer's", data_file("aligned_128.gguf")},
      {"Alignment4096", "alignment 4096", aligned(4096)},
      {"AlignmentOfNothing", "a large alignment and no tensor",
       [] {
         GgufWriter writer(int64_t{1} << 20);
         return image_of(writer).substr(0, 64);
       }()},
      {"Scalar", "a tensor without dimensions, another writer's", data_file("scalar.gguf")},
      {"Name64Bytes", "a tensor name of 64 bytes", named(std::string(64, 'n'))},
      {"NameOfAnyBytes", "a tensor name that is no text", named("\xff\n\"\\\x01")},
      {"Key65535Bytes", "a key of 65535 bytes", keyed(std::string(65'535, 'k'))},
      {"KeyOfAnyBytes", "a key that is no text", keyed("\xc3(\x1b[2J")},
      {"EmptyArray", "an empty array", no_words},
      {"ArraysFourDeep", "arrays nested four deep", nested_four_deep()},
      {"Vocabulary", "an array of 20000 strings", vocabulary(20'000)},
  };
}

}  // namespace planegate::test
