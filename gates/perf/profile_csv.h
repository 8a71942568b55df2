#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What Nsight Compute prints with --csv, read strictly.
namespace planegate::perf {

/// `FILE:LINE:COLUMN: what, requirement`; the column counts bytes from 1.
class ProfileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One cell and where it starts.
struct CsvCell {
  std::string text;
  int64_t line = 0, column = 0;
};
using CsvRow = std::vector<CsvCell>;

/// All rows of RFC 4180 text. Lines of the profiler itself (`==PROF== ...`) and empty ones are
/// left out.
/// @throws ProfileError: a quote that never closes, or text behind a closing quote.
std::vector<CsvRow> csv_rows(const std::string& file, std::string_view text);

/// Samples at one instruction.
struct SampledInstruction {
  std::string address, sass;
  int64_t samples = 0;                    ///< all of them
  std::map<std::string, int64_t> stalls;  ///< reason (`long_sb`) -> samples; none is 0
};

/// `ncu --csv --page source --print-source sass` of one launch.
struct SourceProfile {
  std::string kernel;
  std::vector<SampledInstruction> instructions;
  int64_t samples() const;
};

/// @throws ProfileError: no header, no stall columns, a column twice, rows of another length, cells
///         that are no count, reasons that add up to more than the samples, no instruction, or a
///         second kernel.
SourceProfile parsed_source_page(const std::string& file, std::string_view text);

/// `ncu --csv --page raw` of one launch.
struct RawProfile {
  std::string kernel;
  std::map<std::string, double> metrics;  ///< what is no number is left out
  std::optional<double> metric(const std::string& name) const;
};

/// @throws ProfileError: no header, no row of units, not exactly one launch, rows of another
/// length.
RawProfile parsed_raw_page(const std::string& file, std::string_view text);

}  // namespace planegate::perf
