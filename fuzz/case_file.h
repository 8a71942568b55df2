#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <planegate/core/gate_report.h>

#include "fuzz/case.h"

namespace planegate::fuzz {

inline constexpr const char* kCaseSchema = "planegate.case/1";

/// A red case: what repeats it anywhere, and what was seen.
struct CaseFile {
  Case c;
  std::string consumer;
  std::string device;  ///< where it was red, as reports name it
  std::string gate;    ///< `parity`
  std::string part;    ///< the first red part: `lattice`, `bound`, `independence`
  std::string diagnosis;

  friend bool operator==(const CaseFile&, const CaseFile&) = default;
};

/// A text is no case file: `knobs.order: "upwards" is not ascending, descending or random`.
class CaseFileError : public std::runtime_error {
 public:
  CaseFileError(const std::string& field, const std::string& requirement)
      : std::runtime_error(field + ": " + requirement) {}
};

/// Of a report of run_case().
CaseFile case_file(const Case& c, const GateReport& report);

/// JSON. `version` is that of planegate.
std::string to_json(const CaseFile& file, std::string_view version);
/// @post from_json(to_json(file, v)) == file (fuzz_unit)
/// @throws CaseFileError with the field and what it must be: no JSON, another schema, a member that
///         is absent, unknown, of another type or out of range.
CaseFile from_json(std::string_view text);

}  // namespace planegate::fuzz
