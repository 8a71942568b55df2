#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "oracle/half.h"
#include "oracle/q6_k/extremes.h"
#include "oracle/q8_act/extremes.h"

/// Tensors of contents at the edges of what q6_K and the activations can hold.
namespace planegate::extremes {

using oracle::q6_k::weight_contents;
using oracle::q6_k::WeightContent;
using oracle::q8_act::activation_contents;

inline constexpr size_t kBlockBytes = 210;
inline constexpr size_t kD = 208;
inline constexpr uint16_t kLargest = 0x7bff;  // 65504

/// A q6_K tensor whose block (row, sb) holds content number row + stride * sb.
struct ExtremeTensor {
  ExtremeTensor(int64_t od, int64_t nsb, int64_t nt, size_t stride)
      : shape(od, nsb * kSuperBlockElems, nt), raw{"extreme.weight", "q6_K", shape, {}} {
    for (size_t row = 0; row < static_cast<size_t>(od); ++row) {
      for (size_t sb = 0; sb < static_cast<size_t>(nsb); ++sb) {
        const auto& block = contents[(row + stride * sb) % contents.size()].bytes;
        bytes.insert(bytes.end(), block.begin(), block.end());
      }
    }
    raw.bytes = bytes;
  }
  ExtremeTensor(const ExtremeTensor&) = delete;
  ExtremeTensor& operator=(const ExtremeTensor&) = delete;

  std::string legend() const {
    std::string out;
    for (size_t i = 0; i < contents.size(); ++i) {
      out += fmt::format("row {}: {}\n", i, contents[i].name);
    }
    return out;
  }

  std::vector<WeightContent> contents = weight_contents();
  Shape shape;
  std::vector<std::byte> bytes;
  RawTensor raw;
};

/// One content a row; od is odd, so that w_dsc has its extra row.
inline ExtremeTensor one_content_a_row(int64_t nsb, int64_t nt) {
  return {static_cast<int64_t>(weight_contents().size()) | 1, nsb, nt, 0};
}

/// nt tokens, token t of content t modulo their number.
inline std::vector<float> extreme_activations(const Shape& shape) {
  const auto contents = activation_contents();
  std::vector<float> x;
  for (int64_t token = 0; token < shape.nt(); ++token) {
    const auto& content = contents[static_cast<size_t>(token) % contents.size()];
    for (int64_t k = 0; k < shape.id(); ++k) x.push_back(content.value(k));
  }
  return x;
}

}  // namespace planegate::extremes
