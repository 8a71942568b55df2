#pragma once

#include <string>
#include <vector>

#include <planegate/core/gate_report.h>
#include <planegate/core/specs.h>

namespace planegate::gates {

/// A variant and what parity said of it, on the same data as its siblings.
struct VariantResult {
  const ConsumerSpec* consumer = nullptr;
  const GateReport* parity = nullptr;
};

/// Failing variants with one bit-identical difference, or with the same kind of fault where nothing
/// could be compared, and what their policies say about it.
struct VariantGroup {
  std::vector<const ConsumerSpec*> consumers;
  /// Common to all of the group and absent from every passing variant.
  std::vector<Policy> suspects;
  /// Policies of the group that a passing variant has too, or that differ inside the group while
  /// the difference does not.
  std::vector<Policy> cleared;
  bool same_fault = false;  ///< grouped by the kind of fault

  /// `3 variants fail with one bit-identical difference; they share code address = ...; cleared:
  /// ...`
  std::string text() const;
};

/// Groups the failing variants by the fingerprint of their difference.
std::vector<VariantGroup> diagnose(const std::vector<VariantResult>& results);

}  // namespace planegate::gates
