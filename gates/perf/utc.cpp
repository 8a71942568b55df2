#include "gates/perf/utc.h"

#include <chrono>
#include <regex>

#include <fmt/chrono.h>

namespace planegate::perf {

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::optional<int64_t> seconds_of_utc(const std::string& text) {
  using namespace std::chrono;  // NOLINT
  static const std::regex form(R"((\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)Z)");
  std::smatch match;
  if (!std::regex_match(text, match, form)) return std::nullopt;
  const auto part = [&](size_t i) { return std::stoi(match[i]); };
  const year_month_day date(year(part(1)), month(static_cast<unsigned>(part(2))),
                            day(static_cast<unsigned>(part(3))));
  if (!date.ok()) return std::nullopt;
  return sys_days(date).time_since_epoch().count() * 86400LL + part(4) * 3600 + part(5) * 60 +
         part(6);
}

}  // namespace planegate::perf
