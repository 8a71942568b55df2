#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/contract.h>
#include <planegate/core/errors.h>
#include <planegate/core/flat_layout.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>

namespace planegate {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

int64_t offset_of(const Field& field, const Shape& shape, int64_t line, int64_t k) {
  return offset_bits(field.layout, bind(field.layout, shape), line, k);
}

/// Which bits of a plane some value owns; a bit with two owners is a failure.
class OwnedBits {
 public:
  OwnedBits(const Contract& contract, const Shape& shape)
      : owners_(static_cast<size_t>(contract.size_bytes(shape) * 8)) {
    const int64_t lines = contract.role == Role::kWeights ? shape.od() : shape.nt();
    for (const Field& field : contract.fields) walk(field, shape, lines);
  }

  bool free_byte(int64_t at) const {
    int owned = 0;
    for (int64_t bit = 8 * at; bit < 8 * at + 8; ++bit) owned += owners_[static_cast<size_t>(bit)];
    EXPECT_TRUE(owned == 0 || owned == 8) << "byte " << at << " is owned in part";
    return owned == 0;
  }

 private:
  void walk(const Field& field, const Shape& shape, int64_t lines) {
    const BoundLayout bound = bind(field.layout, shape);
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t k = 0; k < shape.id(); k += elems_per_value(field)) {
        claim(field, line, k, offset_bits(field.layout, bound, line, k));
      }
    }
  }

  void claim(const Field& field, int64_t line, int64_t k, int64_t at) {
    const bool inside = at >= 0 && at + field.bits <= std::ssize(owners_);
    ASSERT_TRUE(inside) << field.name << " line " << line << " k " << k << " at bit " << at;
    for (int64_t bit = at; bit < at + field.bits; ++bit) {
      ASSERT_FALSE(owners_[static_cast<size_t>(bit)])
          << field.name << " line " << line << " k " << k << " shares bit " << bit;
      owners_[static_cast<size_t>(bit)] = true;
    }
  }

  std::vector<bool> owners_;
};

/// Law: injective, inside the plane, and `is_padding(byte)` says exactly which bytes are free.
template <class IsPadding>
void test_bits(const Contract& contract, const Shape& shape, IsPadding is_padding) {
  SCOPED_TRACE(contract.name + " " + shape.text());
  const OwnedBits owned(contract, shape);
  for (int64_t at = 0; at < contract.size_bytes(shape); ++at) {
    ASSERT_EQ(owned.free_byte(at), is_padding(at)) << "byte " << at;
  }
}

const std::vector<Shape>& small_shapes() {
  static const std::vector<Shape> shapes = {Shape(1, 256, 1),  Shape(3, 256, 3),
                                            Shape(2, 512, 17), Shape(5, 768, 64),
                                            Shape(7, 512, 65), Shape(4, 1024, 130)};
  return shapes;
}

TEST(Layout, EveryBitOfRawHasOneOwner) {
  for (const Shape& shape : small_shapes()) {
    test_bits(describe<q6_k::Raw>(), shape, [](int64_t) { return false; });
  }
}

TEST(Layout, EveryBitOfWExpHasOneOwner) {
  for (const Shape& shape : small_shapes()) {
    test_bits(describe<q6_k::WExp>(), shape, [](int64_t) { return false; });
  }
}

TEST(Layout, PaddedLeaves14BytesOfEveryBlock) {
  for (const Shape& shape : small_shapes()) {
    test_bits(describe<q6_k::Padded>(), shape, [](int64_t at) { return at % 224 >= 210; });
  }
}

TEST(Layout, Qa8LeavesTailTokensOnly) {
  for (const Shape& shape : small_shapes()) {
    const int64_t tile_row_bytes = shape.id() / 32 * 2048;
    test_bits(describe<q8_act::Qa8>(), shape, [&](int64_t at) {
      // The swizzle permutes 16-byte pieces of one 128-byte line, that is of four tokens.
      const int64_t piece = at % 2048 / 16;
      const int64_t straight = (piece & ~int64_t{7}) | ((piece ^ (piece >> 3)) & 7);
      return at / tile_row_bytes * 64 + straight / 2 >= shape.nt();
    });
  }
}

TEST(Layout, SdaLeavesTailTokensOnly) {
  for (const Shape& shape : small_shapes()) {
    const int64_t tile_row_bytes = shape.id() / 32 * 256;
    test_bits(describe<q8_act::Sda>(), shape, [&](int64_t at) {
      const int64_t word = at % 256 / 4;
      const int64_t token = word / 32 * 32 + word / 2 % 2 * 16 + word % 2 * 8 + word % 32 / 4;
      return at / tile_row_bytes * 64 + token >= shape.nt();
    });
  }
}

TEST(Layout, WDscLeavesTheRowThatAnOddOdIsRoundedUpBy) {
  for (const Shape& shape : small_shapes()) {
    const int64_t od_even = (shape.od() + 1) / 2 * 2;
    test_bits(describe<q6_k::WDsc>(), shape,
              [&](int64_t at) { return at / 8 % od_even >= shape.od(); });
  }
}

TEST(Layout, Pad40LeavesTwoBytesBehindEveryScale) {
  for (const Shape& shape : small_shapes()) {
    test_bits(describe<q8_act::Pad40>(), shape,
              [](int64_t at) { return at % 40 == 2 || at % 40 == 3; });
  }
}

TEST(Layout, WDscEqualsItsClosedForm) {
  const Field& dsc = describe<q6_k::WDsc>().fields[0];
  for (const int64_t od : {1, 6, 7}) {
    const int64_t od_even = od + od % 2;
    for (int64_t row = 0; row < od; ++row) {
      for (int64_t k = 0; k < 512; k += 16) {
        ASSERT_EQ(offset_of(dsc, Shape(od, 512), row, k),
                  32 * (2 * (k / 32 * od_even + row) + k / 16 % 2))
            << "od " << od << " row " << row << " k " << k;
      }
    }
  }
}

TEST(Layout, Pad40EqualsItsClosedForm) {
  const Contract& pad40 = describe<q8_act::Pad40>();
  const Shape shape(1, 512, 5);
  for (int64_t token = 0; token < 5; ++token) {
    for (int64_t k = 0; k < 512; ++k) {
      const int64_t block = (token * 16 + k / 32) * 40;
      ASSERT_EQ(offset_of(pad40.fields[0], shape, token, k), 8 * block);
      ASSERT_EQ(offset_of(pad40.fields[1], shape, token, k), 8 * (block + 4 + k % 32));
      ASSERT_EQ(offset_of(pad40.fields[2], shape, token, k), 8 * (block + 36));
    }
  }
}

TEST(Layout, Qa8EqualsItsClosedForm) {
  const Field& codes = describe<q8_act::Qa8>().fields[0];
  const Shape shape(1, 512, 200);
  for (int64_t token = 0; token < 200; ++token) {
    for (int64_t k = 0; k < 512; ++k) {
      const int64_t tile = token / 64 * 16 + k / 32;
      const int64_t r = token & 63;
      const int64_t u = k % 32 / 4;
      const int64_t word =
          (r & ~3) * 32 + ((((r & 3) * 2 + (u >> 2)) ^ ((r >> 2) & 7)) << 4) + (u & 3) * 4;
      ASSERT_EQ(offset_of(codes, shape, token, k), 8 * (tile * 2048 + word + k % 4))
          << "token " << token << " k " << k;
    }
  }
}

TEST(Layout, SdaEqualsItsClosedForm) {
  const Contract& sda = describe<q8_act::Sda>();
  const Shape shape(1, 512, 200);
  for (int64_t token = 0; token < 200; ++token) {
    for (int64_t k = 0; k < 512; k += 32) {
      const int64_t tile = token / 64 * 16 + k / 32;
      const int64_t r = token & 63;
      const int64_t g = r >> 4;
      const int64_t word = (g >> 1) * 32 + (r & 7) * 4 + (g & 1) * 2 + ((r >> 3) & 1);
      const int64_t at = 8 * (tile * 256 + word * 4);
      ASSERT_EQ(offset_of(sda.fields[0], shape, token, k), at) << "token " << token << " k " << k;
      ASSERT_EQ(offset_of(sda.fields[1], shape, token, k), at + 16);
    }
  }
}

TEST(Layout, PutsHighBitsOfWeight33InBits2And3OfQhByte1) {
  // it = 0, qh[33 & 31] >> 2*((33 >> 5) & 3) = qh[1] >> 2; qh starts at byte 128.
  const Field& qh = describe<q6_k::Raw>().fields[1];
  EXPECT_EQ(offset_of(qh, Shape(2, 512), 0, 33), 8 * (128 + 1) + 2);
}

TEST(Layout, PutsHighBitsOfTheLastWeightInTheTopOfTheLastQhByte) {
  // Row 1 of nsb 2, super-block 1: block 3. Weight 255: it = 1, qh[32 + 31] >> 6.
  const Shape shape(2, 512);
  EXPECT_EQ(offset_of(describe<q6_k::Raw>().fields[1], shape, 1, 511),
            8 * (3 * 210 + 128 + 63) + 6);
  EXPECT_EQ(offset_of(describe<q6_k::Padded>().fields[1], shape, 1, 511),
            8 * (3 * 224 + 128 + 63) + 6);
}

TEST(Layout, PrintsFromTheOutermostMode) {
  EXPECT_EQ(text(q6_k::WExp::Codes::kField.layout), "row:id  sb:256  k:1");
  EXPECT_EQ(text(q6_k::Padded::Ql::kField.layout), "row:nsb*224  sb:224  half:64  e:1  nibble:4b");
  EXPECT_EQ(text(q6_k::Raw::Sc::kField.layout), "row:nsb*210  sb:210  sub:1  @192");
  EXPECT_EQ(text(q8_act::Qa8::Codes::kField.layout),
            "tile:id*64  chunk:2048  token:32  k:1  xor<3,4,3>");
  EXPECT_EQ(text(q6_k::WDsc::Dsc::kField.layout), "chunk:od_even*8  row:8  sub:4");
}

TEST(Layout, PrintsSizesInNamedExtents) {
  EXPECT_EQ(text(Size{4}), "4");
  EXPECT_EQ(text(sizes::kId), "id");
  EXPECT_EQ(text(q6_k::WExp::kBytes), "od*id");
  EXPECT_EQ(text(q6_k::Raw::kBytes), "od*nsb*210");
  EXPECT_EQ(text(q8_act::Sda::kBytes), "ceil(nt/64)*id*8");
  EXPECT_EQ(text_of_bits(Size{4}), "4b");
  EXPECT_EQ(text_of_bits(Size{8 * 224, Symbol::kNsb}), "nsb*224");
}

/// w_exp as the incident's consumer addressed it: padded strides over dense codes.
constexpr Layout padded_stride_twin() {
  Layout twin = q6_k::WExp::Codes::kField.layout;
  twin.modes[1].stride_bits = {8 * 224};
  twin.modes[2].stride_bits = {8 * 224, Symbol::kNsb};
  return twin;
}

TEST(Layout, ComparesWExpWithItsPaddedStrideTwinTermByTerm) {
  EXPECT_THAT(compare(q6_k::WExp::Codes::kField.layout, padded_stride_twin()),
              ElementsAre(FieldsAre("row", "id", "nsb*224"), FieldsAre("sb", "256", "224")));
}

TEST(Layout, ComparesALayoutWithItselfAsEqual) {
  for (const Contract* contract : {&describe<q6_k::Padded>(), &describe<q8_act::Sda>()}) {
    for (const Field& field : contract->fields) {
      EXPECT_THAT(compare(field.layout, field.layout), IsEmpty()) << field.name;
    }
  }
}

TEST(Layout, ComparesModesThatOneSideLacksAndBaseAndSwizzle) {
  Layout right = q8_act::Qa8::Codes::kField.layout;
  right.swizzle = {};
  right.base_bits = 16 * 8;
  right.modes[0].name = "byte";
  EXPECT_THAT(compare(q8_act::Qa8::Codes::kField.layout, right),
              ElementsAre(FieldsAre("k", "1", "absent"), FieldsAre("byte", "absent", "1"),
                          FieldsAre("base", "0", "16"), FieldsAre("swizzle", "<3,4,3>", "none")));
}

constexpr Layout edited_w_exp(int mode, Size stride_bits) {
  Layout layout = q6_k::WExp::Codes::kField.layout;
  layout.modes[mode].stride_bits = stride_bits;
  return layout;
}

constexpr Layout swapped_modes() {
  Layout layout = q6_k::WExp::Codes::kField.layout;
  const Mode inner = layout.modes[0];
  layout.modes[0] = layout.modes[1];
  layout.modes[1] = inner;
  return layout;
}

constexpr Layout without_super_blocks() {
  Layout layout = q6_k::WExp::Codes::kField.layout;
  layout.modes[1] = layout.modes[2];
  layout.n_modes = 2;
  return layout;
}

constexpr Layout with_a_gap_in_the_digits() {
  Layout layout = q6_k::WExp::Codes::kField.layout;
  layout.modes[0].extent = {128};
  return layout;
}

TEST(Layout, NestsHoldsForEveryContract) {
  const auto all_nest = [](const Contract& contract) {
    for (const Field& field : contract.fields) {
      EXPECT_TRUE(nests(field.layout, field.bits)) << contract.name << " " << field.name;
    }
  };
  all_nest(describe<q6_k::Raw>());
  all_nest(describe<q6_k::Padded>());
  all_nest(describe<q6_k::WExp>());
  all_nest(describe<q6_k::WDsc>());
  all_nest(describe<q8_act::Qa8>());
  all_nest(describe<q8_act::Sda>());
  all_nest(describe<q8_act::Pad40>());
}

TEST(Layout, NestsRefusesOverlappingStrides) {
  EXPECT_FALSE(nests(padded_stride_twin(), 8));
  EXPECT_FALSE(nests(edited_w_exp(1, {8 * 255}), 8));
  EXPECT_FALSE(nests(edited_w_exp(2, {8 * 255, Symbol::kNsb}), 8));
}

TEST(Layout, NestsRefusesAStrideThatFitsForSomeShapesOnly) {
  EXPECT_TRUE(nests(edited_w_exp(2, {8 * 256, Symbol::kNsb}), 8));
  EXPECT_FALSE(nests(edited_w_exp(2, {8 * 1'000'000}), 8));
  EXPECT_FALSE(nests(edited_w_exp(2, {8 * 1'000'000, Symbol::kOd}), 8));
}

TEST(Layout, NestsRefusesModesInTheWrongOrder) {
  EXPECT_FALSE(nests(swapped_modes(), 8));
}

TEST(Layout, NestsRefusesValuesWiderThanTheFirstStride) {
  EXPECT_TRUE(nests(q6_k::WExp::Codes::kField.layout, 8));
  EXPECT_FALSE(nests(q6_k::WExp::Codes::kField.layout, 9));
}

TEST(Layout, NestsRefusesDigitsThatDoNotSpellTheCoordinate) {
  EXPECT_FALSE(nests(without_super_blocks(), 8));
  EXPECT_FALSE(nests(with_a_gap_in_the_digits(), 8));
}

/// Every value of every field, by both forms of its layout.
void expect_flat_equals_symbolic(const Contract& contract, const Shape& shape) {
  const int64_t lines = contract.role == Role::kWeights ? shape.od() : shape.nt();
  for (const Field& field : contract.fields) {
    const FlatLayout flat = flatten(field.layout, shape);
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t k = 0; k < shape.id(); ++k) {
        ASSERT_EQ(flat.offset_bits(line, k), offset_of(field, shape, line, k))
            << contract.name << " " << field.name << " line " << line << " k " << k;
      }
    }
  }
}

TEST(FlatLayout, IsTheSameMap) {
  const Shape shape(5, 768, 70);
  expect_flat_equals_symbolic(describe<q6_k::Padded>(), shape);
  expect_flat_equals_symbolic(describe<q6_k::WExp>(), shape);
  expect_flat_equals_symbolic(describe<q6_k::WDsc>(), shape);
  expect_flat_equals_symbolic(describe<q8_act::Qa8>(), shape);
  expect_flat_equals_symbolic(describe<q8_act::Sda>(), shape);
  expect_flat_equals_symbolic(describe<q8_act::Pad40>(), shape);
}

TEST(FlatLayout, EachTermCanBeChangedAlone) {
  FlatLayout flat = flatten(q6_k::WExp::Codes::kField.layout, Shape(2, 512));
  flat.terms[2].stride_bits = 8 * 448;
  EXPECT_EQ(flat.offset_bits(1, 257), 8 * (448 + 257));
  flat.terms[1].div = 512;
  EXPECT_EQ(flat.offset_bits(0, 257), 8 * 1);
}

TEST(Layout, RefusesASizeAbove2To62) {
  constexpr Size kHuge{int64_t{1} << 61, Symbol::kOd};
  EXPECT_EQ(evaluate(kHuge, Shape(2, 256)), int64_t{1} << 62);
  EXPECT_THAT([&] { evaluate(kHuge, Shape(3, 256)); },
              ThrowsMessage<ContractError>(HasSubstr("od*2305843009213693952=3")));
}

TEST(Layout, RefusesAPlaneSizeThatOverflows) {
  // One token occupies a tile of 64: 64 * 2^59 bytes.
  const Shape wide(1, int64_t{1} << 59, 1);
  EXPECT_THROW(static_cast<void>(describe<q8_act::Qa8>().size_bytes(wide)), ContractError);
  EXPECT_EQ(describe<q6_k::WExp>().size_bytes(wide), int64_t{1} << 59);
}

TEST(Layout, RefusesToBindAStrideThatOverflows) {
  const Shape wide(1, int64_t{1} << 59, 1);
  EXPECT_THROW(static_cast<void>(bind(q8_act::Qa8::Codes::kField.layout, wide)), ContractError);
}

}  // namespace
}  // namespace planegate
