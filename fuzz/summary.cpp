#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "fuzz/soak.h"

namespace planegate::fuzz {
namespace {

constexpr std::array<const char*, 3> kAxes = {"od", "nsb", "nt"};
constexpr double kLeastShare = 0.01;

double share(int64_t cases, int64_t of) {
  return of == 0 ? 0 : static_cast<double>(cases) / static_cast<double>(of);
}

/// One line a rank of values: the three axes side by side.
std::string rows(const Histogram& histogram) {
  std::array<std::vector<std::string>, 3> columns;
  size_t height = 0;
  for (size_t axis = 0; axis < columns.size(); ++axis) {
    for (const auto& [value, cases] : histogram.axis(static_cast<int>(axis))) {
      columns[axis].push_back(
          fmt::format("{:>5} {:>9} {:>6.2f}", value, cases, 100 * share(cases, histogram.cases())));
    }
    height = std::max(height, columns[axis].size());
  }
  std::string out = fmt::format("{:>5} {:>9} {:>6}   {:>5} {:>9} {:>6}   {:>5} {:>9} {:>6}\n", "od",
                                "cases", "%", "nsb", "cases", "%", "nt", "cases", "%");
  for (size_t row = 0; row < height; ++row) {
    std::string line;
    for (const auto& column : columns) {
      const std::string cell = row < column.size() ? column[row] : "";
      line += fmt::format("{:<22}   ", cell);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

/// Whether every value has its share, and whether so short a run could give it.
std::string coverage(const SoakPlan& plan, const SoakResult& result) {
  constexpr size_t kShown = 4;
  std::vector<std::string> rare = result.histogram.rare(plan.generator);
  if (rare.empty()) return "every value of od, nsb and nt is in at least 1 % of the cases\n";
  const Generator& generator = plan.generator;
  const size_t longest =
      std::max({generator.od().size(), generator.nsb().size(), generator.nt().size()});
  if (result.tensors < static_cast<int64_t>(3 * longest)) {
    return fmt::format("a run of fewer than {} shapes cannot bring every value to 1 %\n",
                       3 * longest);
  }
  const size_t count = rare.size();
  rare.resize(std::min(count, kShown));
  return fmt::format("below 1 % of the cases: {}{}\n", fmt::join(rare, ", "),
                     count > kShown ? fmt::format(" and {} more", count - kShown) : "");
}

}  // namespace

void Histogram::add(const Shape& shape, int64_t cases) {
  axes_[0][shape.od()] += cases;
  axes_[1][shape.nsb()] += cases;
  axes_[2][shape.nt()] += cases;
  cases_ += cases;
}

std::vector<std::string> Histogram::rare(const Generator& generator) const {
  const std::array<const std::vector<int64_t>*, 3> lists = {&generator.od(), &generator.nsb(),
                                                            &generator.nt()};
  std::vector<std::string> names;
  for (size_t i = 0; i < lists.size(); ++i) {
    for (const int64_t value : *lists[i]) {
      const auto found = axes_[i].find(value);
      const double part = share(found == axes_[i].end() ? 0 : found->second, cases_);
      if (part >= kLeastShare) continue;
      names.push_back(fmt::format("{} {} ({:.2f} %)", kAxes[i], value, 100 * part));
    }
  }
  return names;
}

std::string summary(const SoakPlan& plan, const SoakResult& result, const std::string& device) {
  const Histogram& histogram = result.histogram;
  std::string out = rows(histogram);
  out += coverage(plan, result);
  out += "large values are joined with small others: ceil(od/64) * nsb * ceil(nt/64) is bounded\n";
  out += fmt::format(
      "{} cases ({} shapes, each with all consumers that take it), {} red, {} "
      "skipped\n",
      histogram.cases(), result.tensors, result.red, result.skipped);
  if (plan.shard.total > 1) {
    out += fmt::format("shard {} of {}\n", plan.shard.index, plan.shard.total);
  }
  const double rate = static_cast<double>(histogram.cases()) / std::max(result.seconds, 1e-9);
  out += fmt::format("{:.1f} s, {:.0f} cases a second on {} threads\n", result.seconds, rate,
                     plan.threads);
  out += fmt::format("seed {}, {}\n", plan.generator.seed(), device);
  return out;
}

}  // namespace planegate::fuzz
