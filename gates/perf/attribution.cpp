#include "gates/perf/attribution.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planegate/core/errors.h>

#include "gates/perf/sass.h"

namespace planegate::perf {
namespace {

constexpr const char* kUnnamed = "unnamed";
/// How far the sampler's own count may lie from the sum over instructions.
constexpr double kCountTolerance = 0.01;

struct Reason {
  WaitClass waits;
  const char* metric;  ///< its name in smsp__average_warps_issue_stalled_NAME_per_issue_active
};

const std::map<std::string, Reason, std::less<>>& reasons() {
  using enum WaitClass;
  static const std::map<std::string, Reason, std::less<>> all = {
      {"long_sb", {kGlobalMemory, "long_scoreboard"}},
      {"lg", {kGlobalMemory, "lg_throttle"}},
      {"tex", {kGlobalMemory, "tex_throttle"}},
      {"drain", {kGlobalMemory, "drain"}},
      {"short_sb", {kSharedMemory, "short_scoreboard"}},
      {"mio", {kSharedMemory, "mio_throttle"}},
      {"barrier", {kBarrier, "barrier"}},
      {"membar", {kBarrier, "membar"}},
      {"math", {kMath, "math_pipe_throttle"}},
      {"gmma", {kMath, "gmma"}},
      {"warpgroup_arrive", {kMath, "warpgroup_arrive"}},
      {"selected", {kIssue, "selected"}},
      {"not_selected", {kIssue, "not_selected"}},
      {"wait", {kIssue, "wait"}},
      {"dispatch", {kIssue, "dispatch_stall"}},
      {"no_inst", {kIssue, "no_instruction"}},
      {"branch_resolving", {kIssue, "branch_resolving"}},
      {"imc", {kOther, "imc_miss"}},
      {"sleep", {kOther, "sleeping"}},
      {"sleeping", {kOther, "sleeping"}},
      {"misc", {kOther, "misc"}},
  };
  return all;
}

/// Values of the raw page's warp state by metric name, and their sum.
struct WarpState {
  std::map<std::string, double, std::less<>> warps;
  double sum = 0;
};

WarpState warp_state(const RawProfile& raw) {
  constexpr std::string_view kBefore = "smsp__average_warps_issue_stalled_";
  constexpr std::string_view kAfter = "_per_issue_active";
  WarpState state;
  for (const auto& [name, value] : raw.metrics) {
    if (!name.starts_with(kBefore)) continue;
    const size_t end = name.find(kAfter);
    if (end == std::string::npos || name.find("not_issued") != std::string::npos) continue;
    const std::string reason = name.substr(kBefore.size(), end - kBefore.size());
    if (state.warps.emplace(reason, value).second) state.sum += value;
  }
  return state;
}

/// Why the two instruments do not agree on a reason; empty: they do.
std::string disagreement(const std::string& reason, int64_t samples, int64_t all,
                         const WarpState& state) {
  const auto known = reasons().find(reason);
  const auto found =
      known == reasons().end() ? state.warps.end() : state.warps.find(known->second.metric);
  if (found == state.warps.end() || state.sum <= 0) {
    return fmt::format("{}: no warp state beside its {} samples", reason, samples);
  }
  const double n = static_cast<double>(all);
  const double sampled = static_cast<double>(samples) / n, state_share = found->second / state.sum;
  const double noise = 3 * std::sqrt(state_share * (1 - state_share) / n);
  if (std::abs(sampled - state_share) <= kShareTolerance + noise) return "";
  return fmt::format("{}: {:.1f} % of the samples, {:.1f} % of the warp state", reason,
                     100 * sampled, 100 * state_share);
}

std::set<int> registers_of(const std::vector<Registers>& ranges) {
  std::set<int> registers;
  for (const auto& [first, count] : ranges) {
    for (int i = 0; i < count; ++i) registers.insert(first + i);
  }
  return registers;
}

WaitClass class_behind(const SourceProfile& source, const BookedStall& stall) {
  if (stall.producer < 0) return class_of(stall.reason);
  const auto& sass = source.instructions[static_cast<size_t>(stall.producer)].sass;
  switch (producer_kind(parsed_sass(sass))) {
    case Producer::kGlobal:
    case Producer::kAsyncCopy:
      return WaitClass::kGlobalMemory;
    case Producer::kShared:
      return WaitClass::kSharedMemory;
    case Producer::kMath:
      return WaitClass::kMath;
    default:
      return WaitClass::kOther;
  }
}

std::vector<BookedStall> booked(const SourceProfile& source) {
  std::vector<BookedStall> stalls;
  for (size_t i = 0; i < source.instructions.size(); ++i) {
    int64_t rest = source.instructions[i].samples;
    for (const auto& [reason, samples] : source.instructions[i].stalls) {
      stalls.push_back({i, reason, samples, WaitClass::kOther, producer_of(source, i, reason)});
      rest -= samples;
    }
    if (rest > 0) stalls.push_back({i, kUnnamed, rest, WaitClass::kOther, -1});
  }
  for (BookedStall& stall : stalls) stall.waits = class_behind(source, stall);
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const auto& x, const auto& y) { return x.samples > y.samples; });
  return stalls;
}

/// `kernel_entry` of `void kernel_entry<T>(Args)`.
std::string function_of(const std::string& kernel) {
  const std::string head = kernel.substr(0, kernel.find_first_of("<("));
  const size_t from = head.find_last_of(": ", head.find_last_not_of(' '));
  return from == std::string::npos ? head : head.substr(from + 1);
}

void check_nothing_dropped(const RawProfile& raw) {
  constexpr const char* kDropped = "smsp__pcsamp_dropped_bytes";
  if (!raw.metric(kDropped)) {
    throw AttributionRefused(fmt::format(
        "the raw page has no {}: it does not say whether samples were dropped", kDropped));
  }
  for (const auto& [name, value] : raw.metrics) {
    if (!name.starts_with("smsp__pcsamp_") || value == 0) continue;
    if (name.find("dropped") != std::string::npos || name.find("overflow") != std::string::npos ||
        name.find("buffer_full") != std::string::npos) {
      throw AttributionRefused(
          fmt::format("samples were dropped ({} = {}): sample less often or into a larger buffer",
                      name, value));
    }
  }
}

void check_one_run(const SourceProfile& source, const RawProfile& raw) {
  const std::string one = function_of(source.kernel), other = function_of(raw.kernel);
  if (!one.empty() && one != other) {
    throw AttributionRefused(
        fmt::format("the source page is of {}, the raw page of {}", one, other));
  }
  if (source.samples() == 0) throw AttributionRefused("no sample: the launch is too short");
  const auto counted = raw.metric("smsp__pcsamp_sample_count");
  const auto n = static_cast<double>(source.samples());
  if (counted && std::abs(*counted - n) > kCountTolerance * std::max(n, *counted)) {
    throw AttributionRefused(fmt::format(
        "two runs: the instructions have {} samples, the raw page counts {}", n, *counted));
  }
}

using ByReason = std::map<std::string, int64_t>;

/// Samples by reason; 0 for what only the warp state knows.
ByReason samples_by_reason(const Attribution& out, const WarpState& state) {
  ByReason by_reason;
  std::set<std::string> sampled;
  for (const BookedStall& stall : out.stalls) {
    by_reason[stall.reason] += stall.samples;
    const auto known = reasons().find(stall.reason);
    if (known != reasons().end()) sampled.insert(known->second.metric);
  }
  for (const auto& [reason, known] : reasons()) {
    if (state.warps.count(known.metric) != 0 && sampled.insert(known.metric).second) {
      by_reason[reason] = 0;
    }
  }
  return by_reason;
}

/// The classes that samples of `reason` were booked to.
std::set<WaitClass> classes_of(const Attribution& out, const std::string& reason) {
  std::set<WaitClass> classes;
  for (const BookedStall& stall : out.stalls) {
    if (stall.reason == reason) classes.insert(stall.waits);
  }
  return classes.empty() ? std::set<WaitClass>{class_of(reason)} : classes;
}

void add_shares(Attribution& out, const WarpState& state) {
  std::array<std::vector<std::string>, kWaitClasses> why;
  for (const auto& [reason, samples] : samples_by_reason(out, state)) {
    const std::string wrong = disagreement(reason, samples, out.samples, state);
    if (wrong.empty()) continue;
    for (const WaitClass waits : classes_of(out, reason)) {
      why[static_cast<size_t>(waits)].push_back(wrong);
    }
  }
  for (size_t c = 0; c < kWaitClasses; ++c) {
    ClassTotal& total = out.totals[c];
    total.why_no_share = fmt::format("{}", fmt::join(why[c], "; "));
    if (why[c].empty()) {
      total.share = static_cast<double>(total.samples) / static_cast<double>(out.samples);
    }
  }
}

void check_same_sampling(const char* what, const std::optional<double>& a,
                         const std::optional<double>& b) {
  if (a == b) return;
  const auto text = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("unknown");
  };
  throw AttributionRefused(
      fmt::format("counts cannot be compared: {} {} and {}", what, text(a), text(b)));
}

std::string change_text(const ClassChange& change) {
  if (!change.significant) return "no change beyond the noise of sampling";
  const bool less = change.b < change.a;
  const std::string waits = less ? "waits less" : "waits more";
  if (!change.misleading) return waits;
  const std::string shares =
      change.share_a && change.share_b
          ? fmt::format(" from {:.1f} % to {:.1f} %", 100 * *change.share_a, 100 * *change.share_b)
          : "";
  return fmt::format("{}; its share {}{} only because the total changed more", waits,
                     less ? "rises" : "falls", shares);
}

}  // namespace

std::string_view text_of(WaitClass waits) {
  constexpr std::array<std::string_view, kWaitClasses> kTexts = {
      "global memory",        "shared memory",      "barrier",
      "tensor pipe and math", "issue and dispatch", "other"};
  return kTexts.at(static_cast<size_t>(waits));
}

WaitClass class_of(std::string_view reason) {
  const auto found = reasons().find(reason);
  return found == reasons().end() ? WaitClass::kOther : found->second.waits;
}

int64_t producer_of(const SourceProfile& profile, size_t consumer, std::string_view reason) {
  const bool is_long = reason == "long_sb";
  if (!is_long && reason != "short_sb") return -1;
  const SassInstruction waiting = parsed_sass(profile.instructions[consumer].sass);
  const bool copies = waiting.mnemonic() == "DEPBAR";
  std::set<int> awaited = copies ? std::set<int>() : registers_of(read_by(waiting));
  const size_t count = profile.instructions.size();
  for (size_t back = 1; back < count; ++back) {
    const size_t at = (consumer + count - back) % count;
    const SassInstruction other = parsed_sass(profile.instructions[at].sass);
    const Producer kind = producer_kind(other);
    if (copies && kind == Producer::kAsyncCopy) return static_cast<int64_t>(at);
    const bool tracked = kind != Producer::kNone && is_long == (kind == Producer::kGlobal);
    for (const int overwritten : registers_of({written(other)})) {
      if (awaited.erase(overwritten) != 0 && tracked) return static_cast<int64_t>(at);
    }
  }
  return -1;
}

Attribution attribute(const SourceProfile& source, const RawProfile& raw, double work) {
  if (!(work > 0)) throw ContractError("work", fmt::format("{}", work), "must be above 0");
  check_nothing_dropped(raw);
  check_one_run(source, raw);
  Attribution out;
  out.kernel = raw.kernel;
  out.samples = source.samples();
  out.work = work;
  out.interval_cycles = raw.metric("smsp__pcsamp_interval_cycles");
  out.passes = raw.metric("smsp__pcsamp_aggregated_passes");
  out.stalls = booked(source);
  for (const BookedStall& stall : out.stalls) {
    out.totals[static_cast<size_t>(stall.waits)].samples += stall.samples;
  }
  add_shares(out, warp_state(raw));
  return out;
}

std::vector<ClassChange> compare(const Attribution& a, const Attribution& b) {
  check_same_sampling("intervals of cycles", a.interval_cycles, b.interval_cycles);
  check_same_sampling("passes", a.passes, b.passes);
  std::vector<ClassChange> changes;
  for (size_t c = 0; c < kWaitClasses; ++c) {
    const auto in_a = static_cast<double>(a.totals[c].samples);
    const auto in_b = static_cast<double>(b.totals[c].samples);
    ClassChange change;
    change.waits = static_cast<WaitClass>(c);
    change.a = in_a / a.work;
    change.b = in_b / b.work;
    change.share_a = a.totals[c].share;
    change.share_b = b.totals[c].share;
    const double of_a = in_a / static_cast<double>(a.samples);
    const double of_b = in_b / static_cast<double>(b.samples);
    const double noise = std::sqrt(in_a / (a.work * a.work) + in_b / (b.work * b.work));
    change.significant = std::abs(change.b - change.a) > 3 * noise;
    change.misleading = change.significant && (change.b < change.a ? of_b > of_a : of_b < of_a);
    change.text = change_text(change);
    changes.push_back(change);
  }
  return changes;
}

}  // namespace planegate::perf
