#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gates/judged_arms.h"

namespace planegate::cli {

/// One row of the matrix.
struct MutantRow {
  gates::ArmResult result;
  std::optional<gates::JudgedArm> judged;  ///< with --judges
};

/// A character a judge: x rejects, . accepts, ! stopped, - not run.
std::string marks(const std::vector<gates::Judged>& judged);
/// Two lines an arm: outcome, verdicts, judges, name; then what was told.
std::string mutants_table(const std::vector<MutantRow>& rows);
/// The arms that are not as expected, each with what was expected.
std::string mutants_misses(const std::vector<MutantRow>& rows);
/// How many faults each judge rejects, at its project's shapes and at the arms'. `bench` says
/// which shapes were run.
std::string judges_table(const std::vector<MutantRow>& rows, const gates::IncumbentBench& bench);
/// `planegate.mutants/1`, described in docs/report-schema.md.
std::string mutants_json(const std::string& device, const std::string& description,
                         const std::vector<MutantRow>& rows, int exit_code);

}  // namespace planegate::cli
