#include "cli/ab_text.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace planegate::cli {
namespace {

using Json = nlohmann::ordered_json;

/// As it was measured.
double printed(const AbReport& report, double sample) {
  return report.higher_is_better ? 1 / sample : sample;
}

/// `1.234 ms`, or the bare number of a metric.
std::string amount(const AbReport& report, double value) {
  if (!report.seconds) return fmt::format("{:.6g}", printed(report, value));
  const double seconds = value / static_cast<double>(report.launches);
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} us", seconds * 1e6);
}

std::string line(const AbReport& report, const char* what, const perf::Measured& measured) {
  const perf::Delta& delta = measured.delta;
  return fmt::format("{:<7} a {:>12}   b {:>12}   b against a {:+.2f} % ({:+.2f} .. {:+.2f})\n",
                     what, amount(report, measured.a), amount(report, measured.b), delta.percent,
                     delta.low, delta.high);
}

std::string prediction(const perf::AbResult& result) {
  if (!result.kernel_share) return "";
  return fmt::format(
      "kernels take {:.1f} % of the wall: predicted for the wall {:+.2f} %, measured "
      "{:+.2f} %\n",
      100 * *result.kernel_share, *result.predicted_wall_percent, result.wall.delta.percent);
}

std::string clocks(const perf::AbResult& result) {
  if (!result.clock_before_hz || !result.clock_after_hz) return "";
  return fmt::format("clock {:.0f} MHz before, {:.0f} MHz after\n", *result.clock_before_hz * 1e-6,
                     *result.clock_after_hz * 1e-6);
}

std::string verdict(const AbReport& report) {
  const perf::AbResult& result = report.result;
  std::string out = fmt::format("b is {}", perf::text_of(result.comparison));
  if (result.comparison == perf::Comparison::kEquivalent) {
    out += fmt::format(" within {:.3g} %", report.bar_percent);
  }
  if (result.comparison == perf::Comparison::kUndecided) {
    out += ": " + result.why_undecided;
    if (result.quads_needed > 0) {
      out += fmt::format("; it would take about {} pairs, these were {}", 2 * result.quads_needed,
                         2 * result.quads);
    }
  }
  if (!report.gated()) return out + " (UNGATED: no green gates stand behind it)\n";
  const bool ours = report.gate == perf::kGateOfPlanegate;
  return out + fmt::format(" (token {:.16}{})\n", report.token,
                           ours ? "" : " of --gate-cmd, not of planegate's gates");
}

Json measured_json(const AbReport& report, const perf::Measured& measured) {
  return {{"a", printed(report, measured.a)},
          {"b", printed(report, measured.b)},
          {"percent", measured.delta.percent},
          {"low", measured.delta.low},
          {"high", measured.delta.high}};
}

}  // namespace

std::string ab_text(const AbReport& report) {
  const perf::AbResult& result = report.result;
  std::string out = fmt::format("a {}\nb {}\n{}\n\n", report.a, report.b, report.workload);
  if (result.kernel) out += line(report, "kernel", *result.kernel);
  out += line(report, report.seconds ? "wall" : "metric", result.wall);
  out += prediction(result);
  out += fmt::format(
      "{} pairs, a and b their medians, b against a the median of their ratios\n"
      "a against itself: false alarms {:.1f} %, smallest effect to be seen {:.2f} %\n",
      2 * result.quads, 100 * result.noise.false_positive_rate,
      result.noise.smallest_effect_percent);
  out += clocks(result);
  if (report.vram_delta_bytes) {
    out += fmt::format("device memory of b less that of a: {:+} bytes\n", *report.vram_delta_bytes);
  }
  return out + verdict(report);
}

std::string ab_json(const AbReport& report, int exit_code) {
  const perf::AbResult& result = report.result;
  Json json = {{"schema", "planegate.ab/1"},
               {"planegate", PLANEGATE_VERSION},
               {"a", report.a},
               {"b", report.b},
               {"workload", report.workload},
               {"device", report.device},
               {"token", report.token},
               {"comparison", std::string(perf::text_of(result.comparison))},
               {"bar_percent", report.bar_percent},
               {"pairs", 2 * result.quads},
               {"launches", report.launches},
               {report.seconds ? "wall" : "metric", measured_json(report, result.wall)},
               {"noise",
                {{"false_positive_rate", result.noise.false_positive_rate},
                 {"smallest_effect_percent", result.noise.smallest_effect_percent}}},
               {"exit_code", exit_code}};
  if (report.gated()) json["gate"] = report.gate;
  if (result.kernel) json["kernel"] = measured_json(report, *result.kernel);
  if (result.kernel_share) {
    json["kernel_share"] = *result.kernel_share;
    json["predicted_wall_percent"] = *result.predicted_wall_percent;
  }
  if (result.clock_before_hz && result.clock_after_hz) {
    json["clock_hz"] = {{"before", *result.clock_before_hz}, {"after", *result.clock_after_hz}};
  }
  if (report.vram_delta_bytes) json["vram_delta_bytes"] = *report.vram_delta_bytes;
  if (result.comparison == perf::Comparison::kUndecided) {
    json["why_undecided"] = result.why_undecided;
    json["pairs_needed"] = 2 * result.quads_needed;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace planegate::cli
