#include "cli/verify_plan.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planegate/core/errors.h>

namespace planegate::cli {
namespace {

/// Tails behind one token tile; the small-batch path; a single token.
constexpr int64_t kTokens[] = {70, 8, 1};

void require_known(const std::string& option, const std::vector<std::string>& wanted,
                   const std::vector<std::string>& known) {
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw CommandError(kWrongUse, fmt::format("{} {}: no such name; nearest: {}", option, name,
                                              fmt::join(nearest(name, known), ", ")));
  }
}

std::vector<std::string> plane_names(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const Contract* plane : catalog.planes()) names.push_back(plane->name);
  return names;
}

PlaneSwitches switches_of(const VerifyArguments& arguments) {
  try {
    PlaneSwitches switches = PlaneSwitches::from_environment();
    for (const std::string& use : arguments.use) switches.set(use, "--use");
    return switches;
  } catch (const ContractError& error) {
    throw CommandError(kWrongUse, error.what());
  }
}

}  // namespace

VerifyPlan::VerifyPlan(const Catalog& catalog, const VerifyArguments& arguments)
    : catalog_(catalog),
      nt_(arguments.nt),
      planes_(arguments.planes),
      consumers_(arguments.consumers),
      addresses_(arguments.addresses),
      switches_(switches_of(arguments)) {
  // Planes may be given as the table shows them: `q6_K/w_exp`.
  for (const Contract* plane : catalog.planes()) {
    std::replace(planes_.begin(), planes_.end(), plane->format + "/" + plane->name, plane->name);
  }
  std::vector<std::string> consumers;
  for (const ConsumerSpec& consumer : catalog.consumers()) consumers.push_back(consumer.name);
  require_known("--plane", planes_, plane_names(catalog));
  require_known("--consumer", consumers_, consumers);
  require_known("--use or PLANEGATE_USE:", switches_.named(), plane_names(catalog));
  if (!arguments.use.empty() && !names_nothing()) {
    throw CommandError(kWrongUse,
                       "--use: switches what Dispatch may choose from, and with --plane or "
                       "--consumer nothing is dispatched");
  }
}

std::vector<const ConsumerSpec*> VerifyPlan::wanted() const {
  std::vector<const ConsumerSpec*> found;
  if (consumers_.empty() && !planes_.empty()) return found;
  for (const ConsumerSpec& consumer : catalog_.consumers()) {
    const bool named =
        std::find(consumers_.begin(), consumers_.end(), consumer.name) != consumers_.end();
    if (consumers_.empty() || named) found.push_back(&consumer);
  }
  return found;
}

std::vector<VerifyPlan::Pass> VerifyPlan::passes(const Shape& weights) const {
  std::vector<Pass> passes;
  std::vector<const ConsumerSpec*> left = wanted();
  for (const int64_t nt : nt_ ? std::vector<int64_t>{*nt_}
                              : std::vector<int64_t>(std::begin(kTokens), std::end(kTokens))) {
    const Shape shape = weights.with_tokens(nt);
    const auto refused = std::stable_partition(left.begin(), left.end(), [&](const auto* consumer) {
      return nt_ || !consumer->refusal(shape);
    });
    Pass pass{nt, {}};
    if (addresses_) pass.selection.addresses = gates::Addresses::kAlways;
    for (auto it = left.begin(); it != refused; ++it) {
      pass.selection.consumers.push_back((*it)->name);
    }
    left.erase(left.begin(), refused);
    if (passes.empty()) {
      pass.selection.planes = names_nothing() ? plane_names(catalog_) : planes_;
      pass.selection.dispatch = names_nothing();
      pass.selection.switches = switches_;
    }
    if (!pass.selection.planes.empty() || !pass.selection.consumers.empty()) {
      passes.push_back(std::move(pass));
    }
  }
  // What takes none of these is shown refused.
  for (const ConsumerSpec* consumer : left) {
    passes.front().selection.consumers.push_back(consumer->name);
  }
  return passes;
}

ExitCode VerifyPlan::exit_code(const std::vector<GateReport>& reports) const {
  std::vector<GateReport> counted;
  std::copy_if(reports.begin(), reports.end(), std::back_inserter(counted),
               [&](const GateReport& report) { return !report.refused || !consumers_.empty(); });
  switch (overall(counted)) {
    case Verdict::kFail:
      return kGateFailed;
    case Verdict::kSkipped:
      return kNothingVerified;
    case Verdict::kPass:
      return kVerified;
  }
  return kNothingVerified;
}

}  // namespace planegate::cli
