#include "gates/diagnosis.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace planegate::gates {
namespace {

using Policies = std::set<Policy>;

Policies policies_of(const ConsumerSpec& consumer) {
  return {consumer.policies.begin(), consumer.policies.end()};
}

std::string policy_text(const Policy& policy) {
  return fmt::format("{} ({})", policy.kind, policy.name);
}

std::string list(const std::vector<Policy>& policies) {
  std::vector<std::string> texts;
  std::transform(policies.begin(), policies.end(), std::back_inserter(texts), policy_text);
  return fmt::format("{}", fmt::join(texts, "; "));
}

VariantGroup grouped(std::vector<const ConsumerSpec*> consumers, const Policies& of_passing) {
  Policies common = policies_of(*consumers.front());
  Policies all;
  for (const ConsumerSpec* consumer : consumers) {
    const Policies own = policies_of(*consumer);
    all.insert(own.begin(), own.end());
    std::erase_if(common, [&](const Policy& policy) { return !own.contains(policy); });
  }
  VariantGroup group;
  group.consumers = std::move(consumers);
  for (const Policy& policy : all) {
    const bool suspect = common.contains(policy) && !of_passing.contains(policy);
    (suspect ? group.suspects : group.cleared).push_back(policy);
  }
  return group;
}

/// `copy not waited for`, of a diagnosis that goes on with the place.
std::string kind_of(const GateReport& parity) {
  const std::string kind = parity.diagnosis.substr(0, parity.diagnosis.find(':'));
  return kind.empty() ? "unknown" : kind;
}

}  // namespace

std::string VariantGroup::text() const {
  const std::string who =
      consumers.size() == 1
          ? consumers.front()->name + " fails alone"
          : fmt::format("{} variants fail with {}", consumers.size(),
                        same_fault ? "the same kind of fault" : "one bit-identical difference");
  const std::string shared =
      suspects.empty() ? "no policy is theirs alone: look at what the passing variants do not run"
                       : "what they share and no passing variant has: " + list(suspects);
  return fmt::format("{}; {}; cleared: {}", who, shared,
                     cleared.empty() ? "nothing" : list(cleared));
}

std::vector<VariantGroup> diagnose(const std::vector<VariantResult>& results) {
  Policies of_passing;
  // Where nothing could be compared the kind of fault stands in for the difference.
  std::map<std::pair<uint64_t, std::string>, std::vector<const ConsumerSpec*>> failing;
  for (const VariantResult& result : results) {
    if (result.parity->verdict == Verdict::kPass) {
      of_passing.merge(policies_of(*result.consumer));
    } else if (result.parity->verdict == Verdict::kFail) {
      const bool compared = result.parity->difference.count > 0;
      failing[{result.parity->difference.fingerprint, compared ? "" : kind_of(*result.parity)}]
          .push_back(result.consumer);
    }
  }
  std::vector<VariantGroup> groups;
  for (auto& [cause, consumers] : failing) {
    groups.push_back(grouped(std::move(consumers), of_passing));
    groups.back().same_fault = !cause.second.empty();
  }
  return groups;
}

}  // namespace planegate::gates
