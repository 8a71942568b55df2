#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <planegate/core/catalog.h>
#include <planegate/core/gate_report.h>
#include <planegate/devices/device.h>
#include <planegate/store/plane_switches.h>

/// The kill matrix: planted faults, the verdicts that each must get, and the verdicts it got.
namespace planegate::gates {

/// What the gates of one plane and one consumer said.
struct Verdicts {
  Verdict mirror = Verdict::kPass;
  Verdict readback = Verdict::kPass;  ///< of the plane that was uploaded and of one made there
  Verdict parity = Verdict::kPass;
  Verdict chain = Verdict::kPass;
  std::optional<Verdict> dispatch = {};  ///< nullopt: not asked

  friend bool operator==(const Verdicts&, const Verdicts&) = default;
  /// `pass pass FAIL skipped`
  std::string text() const;
};

/// The verdicts of a fault that one gate sees: what depends on that gate is skipped.
inline constexpr Verdicts kMirrorRed{Verdict::kFail, Verdict::kPass, Verdict::kPass,
                                     Verdict::kSkipped};
inline constexpr Verdicts kReadbackRed{Verdict::kPass, Verdict::kFail, Verdict::kPass,
                                       Verdict::kSkipped};
inline constexpr Verdicts kParityRed{Verdict::kPass, Verdict::kPass, Verdict::kFail,
                                     Verdict::kSkipped};
inline constexpr Verdicts kChainRed{Verdict::kPass, Verdict::kPass, Verdict::kPass, Verdict::kFail};
inline constexpr Verdicts kDispatchRed{Verdict::kPass, Verdict::kPass, Verdict::kPass,
                                       Verdict::kPass, Verdict::kFail};

/// One planted fault: what it is, where it shows, what must be said of it.
struct Arm {
  std::string name;       ///< `w_exp.codes: row stride of padded`
  std::string bug_class;  ///< a class of public reports: `padded-vs-dense`
  std::string plane;      ///< whose mirror and readback count: `w_exp`
  std::string consumer;   ///< whose parity and chain count
  Shape shape{2, 512};
  Verdicts expected;
  /// Each must occur in the text of the gate that is red.
  std::vector<std::string> must_name;
  /// The same on cuda, where no executor watches; empty: must_name.
  std::vector<std::string> must_name_on_cuda = {};
  /// And one of each of these: spellings of one fault that no output tells apart.
  std::vector<std::vector<std::string>> one_of = {};
  /// Plants the fault in a copy of the catalog; empty: nothing to change there.
  std::function<void(Catalog&)> plant = {};
  /// The device that has the fault; null with the reason where that kind is not there. Empty: a
  /// clean one.
  std::function<std::unique_ptr<Device>(DeviceKind, std::string& why_not)> device = {};
  PlaneSwitches switches = {};  ///< for arms whose dispatch is asked for
  /// Empty, or why this fault need not show on cuda: `a race need not show`. It still runs there.
  std::string may_survive_on_cuda = {};
  /// At `shape` the fault changes no address: found by comparing maps.
  bool equivalent = false;

  const std::vector<std::string>& words_on(DeviceKind kind) const {
    return kind == DeviceKind::kCuda && !must_name_on_cuda.empty() ? must_name_on_cuda : must_name;
  }
};

enum class Outcome : uint8_t {
  kKilled,      ///< by the gate that should, and rightly named
  kSurvived,    ///< no gate is red
  kWrongGate,   ///< verdicts other than expected
  kMisnamed,    ///< the diagnosis lacks what it must name
  kEquivalent,  ///< no fault at this shape; all gates green
  kHidden,      ///< it ran, no gate is red, and on this device it need not: `told` says why
  kNotRun,      ///< on this device: `told` says why
};
const char* text(Outcome outcome);

struct ArmResult {
  const Arm* arm = nullptr;
  Outcome outcome = Outcome::kNotRun;
  Verdicts have;
  std::string gate;  ///< the first red gate: `parity`
  std::string told;  ///< its first difference and diagnosis, or why the arm did not run
  double seconds = 0;
  std::vector<std::string> must_name = {};  ///< on this device
  bool device_lost = false;                 ///< during this arm or before it

  /// Whether the matrix holds: killed, equivalent, hidden, or not run on this device; never where
  /// the device was lost.
  bool as_expected() const;
};

/// Sends `arm` through all gates on a device of `kind`. Gates of other planes must stay green: a
/// red one is the wrong gate. An arm that is called equivalent must be green everywhere.
ArmResult run_arm(const Catalog& clean, const Arm& arm, DeviceKind kind);

/// Counts of a matrix.
struct Score {
  int64_t killed = 0, survived = 0, wrong_gate = 0, misnamed = 0, equivalent = 0, hidden = 0,
          not_run = 0;

  void add(const ArmResult& result);
  /// `612 arms: 570 killed, 42 equivalent, 0 survived, 0 by the wrong gate, 0 misnamed`
  std::string text() const;
};

}  // namespace planegate::gates
