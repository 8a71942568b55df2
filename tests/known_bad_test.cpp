#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "catalog/catalog.h"

/// A known-bad consumer is a shipped one with exactly one policy replaced: an arm that changed two
/// would not say which of them a gate saw.
namespace planegate {
namespace {

/// The shipped consumer that `bad` was made of: the longest name that it goes on from.
const ConsumerSpec* original(const ConsumerSpec& bad) {
  const ConsumerSpec* longest = nullptr;
  for (const ConsumerSpec& shipped : shipped_catalog().consumers()) {
    const bool begins = bad.name.rfind(shipped.name + "+", 0) == 0;
    if (begins && (longest == nullptr || shipped.name.size() > longest->name.size())) {
      longest = &shipped;
    }
  }
  return longest;
}

/// How many policies of `from` are not among those of `without`.
int64_t own_policies(const ConsumerSpec& from, const ConsumerSpec& without) {
  const std::set<Policy> others(without.policies.begin(), without.policies.end());
  return std::count_if(from.policies.begin(), from.policies.end(),
                       [&](const Policy& policy) { return !others.contains(policy); });
}

TEST(KnownBad, ReplacesExactlyOnePolicyOfAShippedConsumer) {
  const Catalog catalog = catalog_with_known_bad();
  int64_t seen = 0;
  for (const ConsumerSpec& bad : catalog.consumers()) {
    if (shipped_catalog().consumer(bad.name) != nullptr) continue;
    const ConsumerSpec* shipped = original(bad);
    ASSERT_NE(shipped, nullptr) << bad.name;
    EXPECT_EQ(own_policies(bad, *shipped), 1) << bad.name;
    EXPECT_LE(own_policies(*shipped, bad), 1) << bad.name;
    EXPECT_GT(bad.rank, shipped->rank) << bad.name;
    ++seen;
  }
  EXPECT_GE(seen, 48);
}

}  // namespace
}  // namespace planegate
