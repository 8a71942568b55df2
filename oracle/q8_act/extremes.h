#pragma once

#include <functional>
#include <vector>

#include <planegate/core/specs.h>

/// Contents at the edges of what the activations can hold.
namespace planegate::oracle::q8_act {

/// Activations of one token: the value at k.
struct ActivationContent {
  const char* name;
  std::function<float(int64_t k)> value;
};

/// Equal, one-hot, alternating, zero chunks, all codes, subnormal and largest scales: what the
/// quantiser takes.
std::vector<ActivationContent> activation_contents();

/// Whole tensors: of each content alone, `mixed` (token t of content t), and code -128, which the
/// quantiser never gives, encoded directly.
std::vector<Extreme> extremes();

}  // namespace planegate::oracle::q8_act
