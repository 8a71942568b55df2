#pragma once

#include <cstdint>

namespace planegate::fuzz {

/// A share of all cases: those whose number is `index` modulo `total`.
struct Shard {
  int64_t index = 0;
  int64_t total = 1;

  bool has(int64_t number) const { return number % total == index; }
};

/// What GTEST_TOTAL_SHARDS and GTEST_SHARD_INDEX say; null or empty texts: not set.
/// @throws ContractError, naming the variable: only one is set, no whole number, total below 1,
///         index outside of 0..total-1.
Shard parse_shard(const char* total, const char* index);
/// The same from the environment.
Shard shard_from_environment();

}  // namespace planegate::fuzz
