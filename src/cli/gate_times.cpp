#include "cli/gate_times.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace planegate::cli {
namespace {

/// Seconds by name, in the order of first mention.
class Times {
 public:
  void add(const std::string& name, double seconds) {
    const auto known = std::find_if(times_.begin(), times_.end(),
                                    [&](const auto& time) { return time.first == name; });
    if (known == times_.end()) {
      times_.emplace_back(name, seconds);
    } else {
      known->second += seconds;
    }
  }
  const std::vector<std::pair<std::string, double>>& all() const { return times_; }
  std::string text() const {
    std::string out;
    for (const auto& [name, seconds] : times_) {
      out += fmt::format("{}{} {:.1f} s", out.empty() ? "" : ", ", name, seconds);
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, double>> times_;
};

}  // namespace

std::string gate_times(const std::vector<GateReport>& reports, double whole_s) {
  Times gates, parts;
  for (const GateReport& report : reports) {
    gates.add(report.gate, report.seconds);
    for (const GateReport& part : report.parts) parts.add(part.gate, part.seconds);
  }
  std::string out;
  for (const auto& [name, seconds] : gates.all()) {
    out += fmt::format("{}{} {:.1f} s", out.empty() ? "" : ", ", name, seconds);
    if (name == "parity" && !parts.all().empty()) out += fmt::format(" ({})", parts.text());
  }
  return fmt::format("time: {}; {:.1f} s in all", out, whole_s);
}

}  // namespace planegate::cli
