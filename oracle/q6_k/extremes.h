#pragma once

#include <array>
#include <string>
#include <vector>

#include <planegate/core/specs.h>

/// Contents at the edges of what q6_K can hold.
namespace planegate::oracle::q6_k {

/// One block of a q6_K tensor.
struct WeightContent {
  std::string name;  ///< `all codes 63`, `d 0x0001`
  std::array<std::byte, 210> bytes{};
};

/// All codes 0, 32, 63; ql and qh of 0x00, 0xFF, 0x0F, 0xF0; one hot byte; sc -128, 127, 0; d zero,
/// subnormal, largest, of both signs. All scales are finite.
std::vector<WeightContent> weight_contents();

/// Whole tensors: of each content alone, and `mixed`, one content after the other along row + 7*sb.
std::vector<Extreme> extremes();

}  // namespace planegate::oracle::q6_k
