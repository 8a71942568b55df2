#pragma once

#include <optional>
#include <string>
#include <vector>

#include <planegate/core/gate_report.h>

#include "cli/commands.h"
#include "gates/verify.h"

namespace planegate::cli {

/// What the arguments of `verify` ask for, checked against the catalog.
class VerifyPlan {
 public:
  /// @throws CommandError(kWrongUse) for a plane or consumer that is not registered (with the
  /// nearest names), or a switch that is no PLANE=on|off.
  VerifyPlan(const Catalog& catalog, const VerifyArguments& arguments);

  /// One pass over a tensor with a number of tokens.
  struct Pass {
    int64_t nt = 1;
    gates::Selection selection;
  };
  /// The passes that `weights` takes. With --nt one; else 70 tokens, and the consumers that do not
  /// take as many with 8, then 1.
  std::vector<Pass> passes(const Shape& weights) const;

  /// The exit status of a run: a consumer that was not named and refuses the shape is no failure,
  /// one that was named is.
  ExitCode exit_code(const std::vector<GateReport>& reports) const;

 private:
  bool names_nothing() const { return planes_.empty() && consumers_.empty(); }
  std::vector<const ConsumerSpec*> wanted() const;

  const Catalog& catalog_;
  std::optional<int64_t> nt_;
  std::vector<std::string> planes_, consumers_;
  bool addresses_;
  PlaneSwitches switches_;
};

}  // namespace planegate::cli
