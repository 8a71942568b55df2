#include "fuzz/shard.h"

#include <charconv>
#include <cstdlib>
#include <string>

#include <planegate/core/errors.h>

namespace planegate::fuzz {
namespace {

constexpr const char* kTotal = "GTEST_TOTAL_SHARDS";
constexpr const char* kIndex = "GTEST_SHARD_INDEX";

int64_t number(const char* name, const std::string& text, const std::string& requirement) {
  int64_t value = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = error == std::errc{} && stop == end;
  if (!whole || value < 0) throw ContractError(name, text, requirement);
  return value;
}

}  // namespace

Shard parse_shard(const char* total, const char* index) {
  const std::string total_text = total == nullptr ? "" : total;
  const std::string index_text = index == nullptr ? "" : index;
  if (total_text.empty() && index_text.empty()) return {};
  if (total_text.empty()) {
    throw ContractError(kTotal, "not set", std::string("a number, since ") + kIndex + " is set");
  }
  if (index_text.empty()) {
    throw ContractError(kIndex, "not set", std::string("a number, since ") + kTotal + " is set");
  }
  Shard shard;
  shard.total = number(kTotal, total_text, "a whole number of at least 1");
  require(shard.total >= 1, kTotal, shard.total, "a whole number of at least 1");
  const std::string range = "a whole number from 0 to " + std::to_string(shard.total - 1);
  shard.index = number(kIndex, index_text, range);
  require(shard.index < shard.total, kIndex, shard.index, range);
  return shard;
}

Shard shard_from_environment() {
  return parse_shard(std::getenv(kTotal), std::getenv(kIndex));
}

}  // namespace planegate::fuzz
