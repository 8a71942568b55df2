#include "gates/compare.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/formats/q6_k/contracts.h>

namespace planegate::gates {
namespace {

const Shape kShape(3, 512, 2);
const Contract& w_exp() {
  return describe<q6_k::WExp>();
}

std::vector<std::byte> plane() {
  std::vector<std::byte> bytes(static_cast<size_t>(w_exp().size_bytes(kShape)));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i % 251);
  return bytes;
}

TEST(CompareBytes, EqualPlanesDoNotDiffer) {
  EXPECT_EQ(compare_bytes(w_exp(), kShape, plane(), plane()).count, 0);
}

TEST(CompareBytes, CountsAllAndNamesTheFirst) {
  std::vector<std::byte> have = plane();
  have[2 * 512 + 300] = std::byte{0xEE};
  have.back() = std::byte{0xEE};
  const Difference difference = compare_bytes(w_exp(), kShape, plane(), have);
  EXPECT_EQ(difference.count, 2);
  EXPECT_EQ(difference.first, "byte 1324 = row 2, super-block 1, element 44 (codes)");
  EXPECT_EQ(difference.have.find("[ee]"), difference.want.find("[45]"));
  EXPECT_NE(difference.have.find("[ee]"), std::string::npos);
}

TEST(CompareBytes, SeesEverySingleByte) {
  for (size_t i = 0; i < plane().size(); ++i) {
    std::vector<std::byte> have = plane();
    have[i] ^= std::byte{1};
    ASSERT_EQ(compare_bytes(w_exp(), kShape, plane(), have).count, 1) << "byte " << i;
  }
}

TEST(CompareBytes, SeesBytesWhereverAThreadsShareBegins) {
  const Shape shape(257, 512, 1);
  const std::vector<std::byte> want(static_cast<size_t>(w_exp().size_bytes(shape)));
  for (size_t block = size_t{1} << 10; block < want.size(); block *= 2) {
    std::vector<std::byte> have = want;
    for (const size_t at : {block - 1, block, want.size() - 1}) have[at] = std::byte{1};
    const Difference difference = compare_bytes(w_exp(), shape, want, have);
    EXPECT_EQ(difference.count, 3) << block;
    EXPECT_TRUE(difference.first.starts_with("byte " + std::to_string(block - 1) + " ="));
  }
}

TEST(ByteComparison, SaysOfPiecesWhatIsSaidOfTheWhole) {
  const std::vector<std::byte> want = plane();
  for (const size_t first : {size_t{0}, size_t{3}, size_t{500}, want.size() - 2}) {
    std::vector<std::byte> have = want;
    for (size_t at = first; at < want.size(); at += 100) have[at] ^= std::byte{0x80};
    const Difference whole = compare_bytes(w_exp(), kShape, want, have);
    for (const size_t step : {size_t{1}, size_t{7}, size_t{512}}) {
      ByteComparison comparison(w_exp(), kShape, want);
      for (size_t at = 0; at < have.size(); at += step) {
        comparison.add(std::span(have).subspan(at, std::min(step, have.size() - at)));
      }
      const Difference pieces = comparison.finish();
      EXPECT_EQ(pieces.count, whole.count);
      EXPECT_EQ(pieces.first, whole.first);
      EXPECT_EQ(pieces.want, whole.want);
      EXPECT_EQ(pieces.have, whole.have);
      EXPECT_EQ(pieces.fingerprint, whole.fingerprint);
    }
  }
}

TEST(ByteComparison, RefusesMoreOrFewerBytesThanWereWanted) {
  const std::vector<std::byte> want = plane();
  const std::vector<std::byte> have = want;
  ByteComparison comparison(w_exp(), kShape, want);
  comparison.add(std::span(have).first(10));
  EXPECT_THROW((void)comparison.finish(), ContractError);
  EXPECT_THROW(comparison.add(have), ContractError);
}

TEST(CompareBytes, RefusesPlanesOfOtherSizes) {
  std::vector<std::byte> shorter = plane();
  shorter.pop_back();
  EXPECT_THROW((void)compare_bytes(w_exp(), kShape, plane(), shorter), ContractError);
}

/// What a comparison says of a tested range that shares bytes with its reference.
template <class Compare>
std::string refused(const Compare& compare) {
  try {
    (void)compare();
  } catch (const ContractError& error) {
    return error.what();
  }
  return "";
}

TEST(CompareBytes, RefusesAPlaneThatIsItsOwnReference) {
  const Shape shape(1, 256, 1);
  const std::vector<std::byte> memory(512);
  const std::span<const std::byte> all(memory);
  const auto ask = [&](size_t want, size_t have) {
    return refused([&] {
      return compare_bytes(w_exp(), shape, all.subspan(want, 256), all.subspan(have, 256));
    });
  };
  for (const size_t have : {0u, 1u, 255u}) {
    EXPECT_EQ(ask(0, have), "have=256 bytes: shares memory with want") << have;
    EXPECT_EQ(ask(have, 0), "have=256 bytes: shares memory with want") << have;
  }
  EXPECT_EQ(ask(0, 256), "");
  EXPECT_EQ(ask(256, 0), "");
}

TEST(CompareElements, RefusesAnOutputInsideItsReferenceOrBound) {
  const std::vector<double> want(6), bound(6);
  const std::vector<float> apart(6);
  const auto inside = [](const std::vector<double>& values, size_t first) {
    return std::span(reinterpret_cast<const float*>(values.data()) + first, 6);
  };
  const auto ask = [&](std::span<const float> have) {
    return refused([&] { return compare_elements(kShape, want, bound, have); });
  };
  EXPECT_EQ(ask(apart), "");
  EXPECT_EQ(ask(inside(want, 0)), "have=24 bytes: shares memory with want");
  EXPECT_EQ(ask(inside(want, 6)), "have=24 bytes: shares memory with want");
  EXPECT_EQ(ask(inside(bound, 6)), "have=24 bytes: shares memory with bound");
}

TEST(CompareBits, RefusesAnOutputThatIsItsOwnReference) {
  const std::vector<float> memory(12);
  const std::span<const float> all(memory);
  const auto ask = [&](size_t have) {
    return refused([&] { return compare_bits(kShape, all.first(6), all.subspan(have, 6)); });
  };
  EXPECT_EQ(ask(0), "have=24 bytes: shares memory with want");
  EXPECT_EQ(ask(5), "have=24 bytes: shares memory with want");
  EXPECT_EQ(ask(6), "");
}

const std::vector<double> kWant = {1, -2, 3, 0, 5, 6};
const std::vector<float> kHave = {1, -2, 3, 0, 5, 6};

TEST(CompareElements, EqualOutputsDoNotDiffer) {
  EXPECT_EQ(compare_elements(kShape, kWant, {}, kHave).count, 0);
}

TEST(CompareElements, OneUnitInTheLastPlaceDiffers) {
  std::vector<float> have = kHave;
  have[4] = std::nextafter(5.0f, 6.0f);
  const Difference difference = compare_elements(kShape, kWant, {}, have);
  EXPECT_EQ(difference.count, 1);
  EXPECT_EQ(difference.first, "element 4 = token 1, row 1");
}

TEST(CompareElements, NaNAndUnwrittenDifferEvenInsideABound) {
  const std::vector<double> bound(6, std::numeric_limits<double>::infinity());
  std::vector<float> have = kHave;
  have[1] = std::nanf("");
  std::memset(&have[2], 0xFF, sizeof(float));
  EXPECT_EQ(compare_elements(kShape, kWant, bound, have).count, 2);
}

TEST(CompareElements, BoundIsPerElement) {
  std::vector<float> have = kHave;
  have[0] += 0.5f;
  have[5] += 0.5f;
  EXPECT_EQ(compare_elements(kShape, kWant, std::vector<double>{0.5, 0, 0, 0, 0, 0}, have).first,
            "element 5 = token 1, row 2");
}

TEST(CompareBits, SignOfZeroDiffers) {
  std::vector<float> have = kHave;
  have[3] = -0.0f;
  EXPECT_EQ(compare_bits(kShape, kHave, have).count, 1);
}

TEST(CompareBits, EqualDifferencesHaveEqualFingerprints) {
  std::vector<float> one = kHave, same = kHave, other_place = kHave, other_value = kHave;
  one[2] = same[2] = 9;
  other_place[3] = 9;
  other_value[2] = 8;
  const auto fingerprint = [&](const std::vector<float>& have) {
    return compare_bits(kShape, kHave, have).fingerprint;
  };
  EXPECT_EQ(fingerprint(one), fingerprint(same));
  EXPECT_NE(fingerprint(one), fingerprint(other_place));
  EXPECT_NE(fingerprint(one), fingerprint(other_value));
}

}  // namespace
}  // namespace planegate::gates
