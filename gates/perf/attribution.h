#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gates/perf/profile_csv.h"

/// What warps wait for, from samples of the program counter (docs/attribution.md).
namespace planegate::perf {

enum class WaitClass {
  kGlobalMemory,  ///< long_sb, lg, tex, drain
  kSharedMemory,  ///< short_sb, mio
  kBarrier,       ///< barrier, membar
  kMath,          ///< math, gmma, warpgroup_arrive: tensor and other pipes
  kIssue,         ///< selected, not_selected, wait, dispatch, no_inst, branch_resolving
  kOther,         ///< imc, sleep, misc, and reasons that are not known here
};
inline constexpr size_t kWaitClasses = 6;

std::string_view text_of(WaitClass waits);
/// Of a reason as the source page names it, without `stall_`.
WaitClass class_of(std::string_view reason);

/// The nearest instruction above `consumer` (then from the end: a loop) whose result it reads, not
/// overwritten since, and that the scoreboard of `reason` tracks; for DEPBAR, the nearest
/// asynchronous copy.
/// @return an index of profile.instructions; -1 where none is found or the reason is no scoreboard.
int64_t producer_of(const SourceProfile& profile, size_t consumer, std::string_view reason);

/// Samples of one reason at one instruction: it is the one that waits.
struct BookedStall {
  size_t consumer = 0;  ///< index of SourceProfile::instructions
  std::string reason;
  int64_t samples = 0;
  WaitClass waits = WaitClass::kOther;
  int64_t producer = -1;  ///< what it waits for, as producer_of()
};

struct ClassTotal {
  int64_t samples = 0;
  /// samples over all samples; only where both instruments agree on every reason in it.
  std::optional<double> share;
  std::string why_no_share;
};

struct Attribution {
  std::string kernel;
  int64_t samples = 0;
  double work = 1;  ///< units of work of the launch
  std::optional<double> interval_cycles, passes;
  std::array<ClassTotal, kWaitClasses> totals;
  std::vector<BookedStall> stalls;  ///< most samples first
  const ClassTotal& total(WaitClass waits) const { return totals[static_cast<size_t>(waits)]; }
};

/// Why a run proves nothing.
class AttributionRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How far the share of a reason among the samples may lie from its share of the warp state: this
/// much, and three standard deviations of a share of so many samples.
inline constexpr double kShareTolerance = 0.05;

/// Books every sample. A scoreboard stall goes to the class of its producer: an instruction that
/// waits for MUFU through short_sb waits for math. Samples without a reason are `unnamed`.
/// @throws ContractError unless work > 0;
///         AttributionRefused: samples were dropped or the raw page does not say; no sample; the
///         pages are of two kernels or two runs.
Attribution attribute(const SourceProfile& source, const RawProfile& raw, double work = 1);

/// One class in two variants, by samples per unit of work.
struct ClassChange {
  WaitClass waits = WaitClass::kOther;
  double a = 0, b = 0;                     ///< samples per unit of work
  std::optional<double> share_a, share_b;  ///< as ClassTotal::share
  bool significant = false;                ///< beyond three standard deviations of both counts
  /// The share moved one way while the samples went the other: only the denominator changed it.
  bool misleading = false;
  std::string text;
};

/// @throws AttributionRefused: sampled at other intervals or in other numbers of passes.
std::vector<ClassChange> compare(const Attribution& a, const Attribution& b);

}  // namespace planegate::perf
