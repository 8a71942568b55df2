#include <map>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/contract.h>
#include <planegate/core/errors.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>

namespace planegate {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<const Contract*> all_contracts() {
  return {&describe<q6_k::Raw>(),    &describe<q6_k::Padded>(), &describe<q6_k::WExp>(),
          &describe<q6_k::WDsc>(),   &describe<q8_act::Qa8>(),  &describe<q8_act::Sda>(),
          &describe<q8_act::Pad40>()};
}

struct Value {
  const Field* field;
  int64_t line, k;
};

/// Byte -> the value in its lowest bits, by walking forwards through every value.
std::map<int64_t, Value> values_by_byte(const Contract& contract, const Shape& shape) {
  std::map<int64_t, Value> values;
  const int64_t lines = contract.role == Role::kWeights ? shape.od() : shape.nt();
  for (const Field& field : contract.fields) {
    const BoundLayout bound = bind(field.layout, shape);
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t k = 0; k < shape.id(); k += elems_per_value(field)) {
        const int64_t at = offset_bits(field.layout, bound, line, k);
        if (at % 8 != 0) continue;
        for (int64_t b = 0; b < (field.bits + 7) / 8; ++b) values[at / 8 + b] = {&field, line, k};
      }
    }
  }
  return values;
}

void test_locate_inverts_offset_bits(const Contract& contract, const Shape& shape) {
  SCOPED_TRACE(contract.name + " " + shape.text());
  const auto values = values_by_byte(contract, shape);
  for (int64_t at = 0; at < contract.size_bytes(shape); ++at) {
    const auto found = locate(contract, shape, at);
    const auto expected = values.find(at);
    ASSERT_EQ(found.has_value(), expected != values.end()) << "byte " << at;
    if (!found) continue;
    ASSERT_EQ(found->field, expected->second.field) << "byte " << at;
    ASSERT_EQ(found->line, expected->second.line) << "byte " << at;
    ASSERT_EQ(found->k, expected->second.k) << "byte " << at;
  }
}

TEST(Contract, LocateInvertsOffsetBitsForEveryByte) {
  for (const Contract* contract : all_contracts()) {
    test_locate_inverts_offset_bits(*contract, Shape(1, 256, 1));
    test_locate_inverts_offset_bits(*contract, Shape(3, 512, 17));
    test_locate_inverts_offset_bits(*contract, Shape(5, 768, 65));
  }
}

TEST(Contract, LocateRefusesABytePastTheEnd) {
  const Shape shape(1, 256);
  EXPECT_THAT([&] { locate(describe<q6_k::WExp>(), shape, 256); },
              ThrowsMessage<ContractError>("offset_bytes=256: inside 256 bytes"));
  EXPECT_THAT([&] { locate(describe<q6_k::WExp>(), shape, -1); },
              ThrowsMessage<ContractError>("offset_bytes=-1: inside 256 bytes"));
}

TEST(Contract, PrintsTheCoordinateOfAWeightByte) {
  // 35*512 + 1*256 + 7.
  EXPECT_EQ(coordinate_text(describe<q6_k::WExp>(), Shape(70, 512), 18183),
            "row 35, super-block 1, element 7 (codes)");
}

TEST(Contract, PrintsTheFieldsOfABlock) {
  const Shape shape(2, 512);
  const Contract& padded = describe<q6_k::Padded>();
  const int64_t block = 3 * 224;
  EXPECT_EQ(coordinate_text(padded, shape, block + 65), "row 1, super-block 1, element 129 (ql)");
  EXPECT_EQ(coordinate_text(padded, shape, block + 129), "row 1, super-block 1, element 1 (qh)");
  EXPECT_EQ(coordinate_text(padded, shape, block + 193), "row 1, super-block 1, element 16 (sc)");
  EXPECT_EQ(coordinate_text(padded, shape, block + 209), "row 1, super-block 1, element 0 (d)");
  EXPECT_EQ(coordinate_text(padded, shape, block + 210), "padding");
}

TEST(Contract, PrintsTheCoordinateOfAnActivationByte) {
  const Shape shape(1, 256, 10);
  // Token 9 = half 1, q 1: word 5 of chunk 1; its high half is the sum.
  EXPECT_EQ(coordinate_text(describe<q8_act::Sda>(), shape, 256 + 5 * 4), "token 9, k 32 (d)");
  EXPECT_EQ(coordinate_text(describe<q8_act::Sda>(), shape, 256 + 5 * 4 + 3),
            "token 9, k 32 (sum)");
  EXPECT_EQ(coordinate_text(describe<q8_act::Sda>(), shape, 256 + 9 * 4), "padding");
  // Token 4: piece 0 ^ 1 of the second 128-byte line.
  EXPECT_EQ(coordinate_text(describe<q8_act::Qa8>(), shape, 128 + 16), "token 4, k 0 (codes)");
}

TEST(Contract, CountsTheElementsThatAValueServes) {
  const Contract& raw = describe<q6_k::Raw>();
  EXPECT_EQ(elems_per_value(raw.fields[0]), 1);
  EXPECT_EQ(elems_per_value(raw.fields[1]), 1);
  EXPECT_EQ(elems_per_value(raw.fields[2]), 16);
  EXPECT_EQ(elems_per_value(raw.fields[3]), 256);
  EXPECT_EQ(elems_per_value(describe<q8_act::Sda>().fields[0]), 32);
}

TEST(Contract, SizesPlanesByTheirFormulas) {
  const Shape shape(70, 512, 65);
  EXPECT_EQ(describe<q6_k::Raw>().size_bytes(shape), 70 * 2 * 210);
  EXPECT_EQ(describe<q6_k::Padded>().size_bytes(shape), 70 * 2 * 224);
  EXPECT_EQ(describe<q6_k::WExp>().size_bytes(shape), 70 * 512);
  EXPECT_EQ(describe<q8_act::Qa8>().size_bytes(shape), 2 * 16 * 2048);
  EXPECT_EQ(describe<q8_act::Sda>().size_bytes(shape), 2 * 16 * 256);
}

TEST(Contract, RefusesTheSizeOfAnIdThatIsNoMultipleOf256) {
  EXPECT_THAT([] { return describe<q6_k::WExp>().size_bytes(Shape(1, 640)); },
              ThrowsMessage<ContractError>(HasSubstr("id=640")));
}

TEST(Contract, PrintsOneLineAField) {
  EXPECT_EQ(describe<q6_k::WExp>().text(), "codes 8b -32..31  row:id  sb:256  k:1");
  EXPECT_EQ(describe<q8_act::Sda>().text(),
            "d 16b f16  tile:id*8  chunk:256  rg:128  q:16  gsel:8  half:4\n"
            "sum 16b -4096..4064  tile:id*8  chunk:256  rg:128  q:16  gsel:8  half:4  @2");
}

TEST(Contract, HashSeesEveryTerm) {
  const Contract& original = describe<q6_k::WExp>();
  std::set<uint64_t> hashes{original.hash()};
  const auto expect_other = [&](auto edit) {
    Contract edited = original;
    edit(edited);
    EXPECT_TRUE(hashes.insert(edited.hash()).second) << edited.text();
  };
  expect_other([](Contract& c) { c.format = "q4_K"; });
  expect_other([](Contract& c) { c.name = "w"; });
  expect_other([](Contract& c) { c.role = Role::kActivations; });
  expect_other([](Contract& c) { c.alignment_bytes = 32; });
  expect_other([](Contract& c) { c.pad_value = 1; });
  expect_other([](Contract& c) { c.bytes.factor = 224; });
  expect_other([](Contract& c) { c.fields[0].max = 32; });
  expect_other([](Contract& c) { c.fields[0].bits = 4; });
  expect_other([](Contract& c) { c.fields[0].layout.modes[1].stride_bits = {8 * 224}; });
  expect_other([](Contract& c) { c.fields[0].layout.base_bits = 8; });
  expect_other([](Contract& c) { c.fields[0].layout.swizzle = {3, 4, 3}; });
  EXPECT_EQ(Contract(original).hash(), original.hash());
}

}  // namespace
}  // namespace planegate
