#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/store/plane_switches.h>

namespace planegate {

PlaneSwitches PlaneSwitches::from_environment() {
  PlaneSwitches switches;
  if (const char* text = std::getenv(kEnvironment)) switches.set(text, kEnvironment);
  return switches;
}

void PlaneSwitches::set(std::string_view text, const std::string& source) {
  auto planes = planes_;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const size_t equals = entry.find('=');
    const std::string_view state = equals == entry.npos ? "" : entry.substr(equals + 1);
    if (equals == 0 || (state != "on" && state != "off")) {
      throw ContractError(source, entry, "PLANE=on or PLANE=off, separated by commas");
    }
    planes[std::string(entry.substr(0, equals))] = {state == "on",
                                                    fmt::format("{} {}", source, entry)};
  }
  planes_ = std::move(planes);
}

std::optional<std::string> PlaneSwitches::off(const std::string& plane) const {
  const auto found = planes_.find(plane);
  if (found == planes_.end() || found->second.first) return std::nullopt;
  return fmt::format("plane {} is off by choice ({})", plane, found->second.second);
}

std::vector<std::string> PlaneSwitches::named() const {
  std::vector<std::string> names;
  for (const auto& [name, state] : planes_) names.push_back(name);
  return names;
}

}  // namespace planegate
