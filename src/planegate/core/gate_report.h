#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <planegate/core/shape.h>

namespace planegate {

enum class Verdict : uint8_t { kPass, kFail, kSkipped };

const char* text(Verdict verdict);

/// What differs, counted and shown once.
struct Difference {
  int64_t count = 0;         ///< differing bytes or elements
  std::string first;         ///< `byte 17923 = row 35, super-block 0, element 3 (codes)`
  std::string want, have;    ///< two windows around the first difference
  uint64_t fingerprint = 0;  ///< hash of positions and values: equal for bit-identical differences
};

/// The result of one gate on one subject. Printed by whoever asked, never by the library.
///
/// Every report says what was compared: a gate that compared nothing is skipped, not passed.
struct GateReport {
  std::string gate;     ///< `mirror`, `readback`, `parity`, `chain`
  std::string subject;  ///< `q6_K/w_exp` or `w_exp/cp_async`
  std::string tensor;
  Shape shape{1, 1};
  std::string device;
  Verdict verdict = Verdict::kSkipped;
  std::string reason;        ///< skipped: why
  bool refused = false;      ///< skipped because the subject does not take this shape or device
  bool device_lost = false;  ///< fail: the device went during this gate, and the run stopped here
  int64_t compared = 0;
  std::string unit;  ///< `bytes`, `elements`
  std::string data;  ///< which data: `file`, `lattice seed=1`
  Difference difference;
  std::string diagnosis;  ///< fail: one sentence
  std::string repeat;     ///< command that repeats the gate
  std::vector<std::string> notes;
  std::vector<GateReport> parts;  ///< parity: lattice, scaled lattice, bound, independence
  double seconds = 0;

  /// `mirror FAIL q6_K/w_exp od=70 id=512 nsb=2 nt=1`
  std::string headline() const;
};

/// Sets pass, fail, or skipped(`nothing was compared`) from `compared` and `difference.count`.
[[nodiscard]] GateReport judged(GateReport report);
[[nodiscard]] GateReport skipped(GateReport report, std::string reason);
/// Fails because the device went during this gate.
[[nodiscard]] GateReport lost(GateReport report, std::string diagnosis);

/// Folds `parts` into their parent: fails with the first failing part's difference and diagnosis;
/// skipped if any part was skipped and none failed, or if there is no part.
[[nodiscard]] GateReport folded(GateReport report);

/// Several lines, the headline first; stable text, pinned by tests/golden.
std::string text(const GateReport& report);

/// Whether the device went during one of these gates.
bool device_lost(const std::vector<GateReport>& reports);

/// fail if any failed; else skipped if any was skipped or there is none; else pass.
Verdict overall(const std::vector<GateReport>& reports);

}  // namespace planegate
