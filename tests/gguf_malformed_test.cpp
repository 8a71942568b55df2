#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gguf_bytes.h"
#include "gguf_cases.h"

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

template <class Case>
std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

class GgufMalformed : public testing::TestWithParam<MalformedCase> {};

TEST_P(GgufMalformed, IsRefusedWithItsMessage) {
  EXPECT_EQ(refusal(GetParam().image), GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(Kind, GgufMalformed, testing::ValuesIn(malformed_cases()),
                         name_of<MalformedCase>);

class GgufValid : public testing::TestWithParam<ValidCase> {};

TEST_P(GgufValid, IsAcceptedThoughOdd) {
  EXPECT_EQ(refusal(GetParam().image), "accepted");
}
INSTANTIATE_TEST_SUITE_P(Kind, GgufValid, testing::ValuesIn(valid_cases()), name_of<ValidCase>);

TEST(GgufErrorText, HasOneForm) {
  const GgufError e("model.gguf", 24, "n_dims", "9", "0 to 4", "tensor \"x\"");
  EXPECT_STREQ(e.what(), "model.gguf: byte 24: n_dims=9 (tensor \"x\"): 0 to 4");
  const GgufError bare("model.gguf", 4, "version", "1", "2 or 3");
  EXPECT_STREQ(bare.what(), "model.gguf: byte 4: version=1: 2 or 3");
}

TEST(GgufErrorText, QuotesTextOfTheFile) {
  EXPECT_EQ(quoted_text("blk.0"), "\"blk.0\"");
  EXPECT_EQ(quoted_text(std::string_view("a\n\0\"\\\xff", 6)), R"("a\x0a\x00\x22\x5c\xff")");
  EXPECT_EQ(quoted_text(std::string(65, 'n')), '"' + std::string(64, 'n') + "\"...");
}

TEST(GgufErrorText, NamesTheFirstOfSeveralRepeats) {
  std::string image =
      "GGUF" + bytes_of(uint32_t{3}) + bytes_of(uint64_t{0}) + bytes_of(uint64_t{5});
  for (const char key : {'b', 'a', 'b', 'b', 'a'}) {
    image += bytes_of(uint64_t{1}) + key + bytes_of(GgufType::kU8) + '\7';
  }
  EXPECT_EQ(refusal(image), "byte 52: key=\"b\" (entry 2): only once in a file");
}

std::string documented_table() {
  std::string table = "| kind | field | what the offset points at | message | case |\n";
  table += "|---|---|---|---|---|\n";
  for (const MalformedCase& some : malformed_cases()) {
    const std::string message = some.message;
    const size_t field = message.find(": ") + 2;
    table += fmt::format("| {} | {} | {} | `{}` | {} |\n", some.kind,
                         message.substr(field, message.find('=') - field), some.offset, message,
                         some.name);
  }
  table += "\n## Odd and valid\n\n| file | case |\n|---|---|\n";
  for (const ValidCase& some : valid_cases()) {
    table += fmt::format("| {} | {} |\n", some.kind, some.name);
  }
  return table;
}

// The tables follow this line; PLANEGATE_WRITE_GOLDEN=1 writes them anew.
constexpr const char* kMarker = "<!-- From here on written by unit_gguf. -->\n\n";

TEST(GgufDocument, HoldsEveryCaseWithItsMessage) {
  const std::string path = PLANEGATE_TEST_DATA "/../../docs/gguf-malformed.md";
  std::string document = read_file(path);
  size_t start = document.find(kMarker);
  ASSERT_NE(start, std::string::npos) << path;
  start += std::string_view(kMarker).size();
  if (std::getenv("PLANEGATE_WRITE_GOLDEN") != nullptr) {
    document.replace(start, std::string::npos, documented_table());
    write_file(path, document);
  }
  EXPECT_EQ(document.substr(start), documented_table()) << path;
}

TEST(GgufDocument, CasesHaveDifferentNamesAndImages) {
  std::set<std::string> names, images;
  for (const MalformedCase& some : malformed_cases()) {
    EXPECT_TRUE(names.insert(some.name).second) << some.name;
    EXPECT_TRUE(images.insert(some.image).second) << some.name;
  }
  for (const ValidCase& some : valid_cases()) {
    EXPECT_TRUE(names.insert(some.name).second) << some.name;
    EXPECT_TRUE(images.insert(some.image).second) << some.name;
  }
}

}  // namespace
}  // namespace planegate::test
