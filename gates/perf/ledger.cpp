#include "gates/perf/ledger.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <planegate/core/errors.h>

#include "gates/perf/utc.h"

namespace planegate::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kComparisons = {"faster", "slower", "equivalent",
                                                          "undecided"};
constexpr std::array<std::string_view, 4> kVerdicts = {"landed", "reverted", "measured-only",
                                                       "waiting"};

template <class Enum>
Enum named(const char* what, std::string_view name, const std::array<std::string_view, 4>& all) {
  const auto found = std::find(all.begin(), all.end(), name);
  if (found != all.end()) return static_cast<Enum>(found - all.begin());
  throw ContractError(what, name, fmt::format("one of {}", fmt::join(all, ", ")));
}

void check_text(const char* member, const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw ContractError(member, text, "must not be empty");
  }
}

void check_delta(const char* member, const std::optional<Delta>& delta) {
  if (!delta) return;
  const std::string value = fmt::format("{},{},{}", delta->percent, delta->low, delta->high);
  if (!std::isfinite(delta->percent) || !std::isfinite(delta->low) || !std::isfinite(delta->high)) {
    throw ContractError(member, value, "must be finite: percent, low, high");
  }
  if (delta->low > delta->percent || delta->percent > delta->high) {
    throw ContractError(member, value, "percent, low, high: low <= percent <= high");
  }
  if (delta->low < -100) throw ContractError(member, value, "no time is below -100 percent");
}

void check_time(const std::string& time) {
  if (seconds_of_utc(time)) return;
  throw ContractError("time", time, "must be UTC as in 2026-01-31T12:00:00Z");
}

void check_gate(const LedgerEntry& entry) {
  if (entry.gate.empty()) return;
  if (entry.token == kUngated) {
    throw ContractError("gate", entry.gate, "must be absent, this number is UNGATED");
  }
  const std::string_view command = kGateOfCommand;
  if (entry.gate == kGateOfPlanegate) return;
  if (entry.gate.starts_with(command) && entry.gate.size() > command.size()) return;
  throw ContractError("gate", entry.gate,
                      fmt::format("must be {}, or {}CMD", kGateOfPlanegate, kGateOfCommand));
}

void check_outcome(const LedgerEntry& entry) {
  const bool waiting = entry.verdict == LedgerVerdict::kWaiting;
  if (waiting) check_text("retry_when", entry.retry_when);
  if (!waiting && !entry.retry_when.empty()) {
    throw ContractError(
        "retry_when", entry.retry_when,
        fmt::format("only what is waiting has a condition, this is {}", text_of(entry.verdict)));
  }
  if (entry.verdict == LedgerVerdict::kLanded && entry.token == kUngated) {
    throw ContractError("verdict", "landed",
                        "needs the token of green gates, and this number is UNGATED");
  }
}

Json delta_json(const Delta& delta) {
  return {{"percent", delta.percent}, {"low", delta.low}, {"high", delta.high}};
}

const Json& member(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) throw LedgerError(name + ": is missing");
  return *found;
}

std::string text(const Json& object, const std::string& name) {
  const Json& value = member(object, name);
  if (!value.is_string()) throw LedgerError(name + ": must be a string");
  return value.get<std::string>();
}

double number(const Json& object, const std::string& name) {
  const Json& value = member(object, name);
  if (!value.is_number()) throw LedgerError(name + ": must be a number");
  return value.get<double>();
}

int64_t integer(const Json& object, const std::string& name) {
  const Json& value = member(object, name);
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX);
  if (!fits) throw LedgerError(name + ": must be an integer of 64 bits");
  return value.get<int64_t>();
}

std::optional<Delta> delta(const Json& object, const std::string& name) {
  if (!object.contains(name)) return std::nullopt;
  const Json& value = object[name];
  if (!value.is_object()) throw LedgerError(name + ": must be an object");
  try {
    return Delta{number(value, "percent"), number(value, "low"), number(value, "high")};
  } catch (const LedgerError& error) {
    throw LedgerError(name + "." + error.what());
  }
}

LedgerEntry entry_of(const Json& json) {
  LedgerEntry entry;
  entry.time = text(json, "time");
  entry.mechanism = text(json, "mechanism");
  entry.a = text(json, "a");
  entry.b = text(json, "b");
  entry.device = text(json, "device");
  entry.workload = text(json, "workload");
  entry.token = text(json, "token");
  if (json.contains("gate")) entry.gate = text(json, "gate");
  entry.budget = text(json, "budget");
  entry.kernel = delta(json, "kernel");
  entry.wall = delta(json, "wall");
  if (json.contains("bar_percent")) entry.bar_percent = number(json, "bar_percent");
  if (json.contains("vram_delta_bytes")) entry.vram_delta_bytes = integer(json, "vram_delta_bytes");
  entry.pairs = integer(json, "pairs");
  entry.comparison = comparison_named(text(json, "comparison"));
  entry.verdict = ledger_verdict_named(text(json, "verdict"));
  if (json.contains("retry_when")) entry.retry_when = text(json, "retry_when");
  check(entry);
  return entry;
}

}  // namespace

std::string_view text_of(Comparison comparison) {
  return kComparisons.at(static_cast<size_t>(comparison));
}

std::string_view text_of(LedgerVerdict verdict) {
  return kVerdicts.at(static_cast<size_t>(verdict));
}

Comparison comparison_named(std::string_view name) {
  return named<Comparison>("comparison", name, kComparisons);
}

LedgerVerdict ledger_verdict_named(std::string_view name) {
  return named<LedgerVerdict>("verdict", name, kVerdicts);
}

void check(const LedgerEntry& entry) {
  check_time(entry.time);
  check_text("mechanism", entry.mechanism);
  check_text("a", entry.a);
  check_text("b", entry.b);
  check_text("device", entry.device);
  check_text("workload", entry.workload);
  check_text("token", entry.token);
  if (entry.token.find_first_of(" \t\r\n") != std::string::npos) {
    throw ContractError("token", entry.token, "must be one word: a checksum, or UNGATED");
  }
  check_gate(entry);
  check_delta("kernel", entry.kernel);
  check_delta("wall", entry.wall);
  const double bar = entry.bar_percent.value_or(0);
  if (!std::isfinite(bar) || bar < 0) {
    throw ContractError("bar_percent", fmt::format("{}", bar), "must be finite and not negative");
  }
  require(entry.pairs >= 0, "pairs", entry.pairs, "must not be negative");
  check_outcome(entry);
}

std::string ledger_line(const LedgerEntry& entry) {
  check(entry);
  Json json = {{"schema", kLedgerSchema},
               {"time", entry.time},
               {"mechanism", entry.mechanism},
               {"a", entry.a},
               {"b", entry.b},
               {"device", entry.device},
               {"workload", entry.workload},
               {"token", entry.token}};
  if (!entry.gate.empty()) json["gate"] = entry.gate;
  json["budget"] = entry.budget;
  if (entry.kernel) json["kernel"] = delta_json(*entry.kernel);
  if (entry.wall) json["wall"] = delta_json(*entry.wall);
  if (entry.bar_percent) json["bar_percent"] = *entry.bar_percent;
  if (entry.vram_delta_bytes) json["vram_delta_bytes"] = *entry.vram_delta_bytes;
  json["pairs"] = entry.pairs;
  json["comparison"] = text_of(entry.comparison);
  json["verdict"] = text_of(entry.verdict);
  if (!entry.retry_when.empty()) json["retry_when"] = entry.retry_when;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<LedgerEntry> parsed_ledger_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  if (!json.is_object()) throw LedgerError("must be an object");
  const std::string schema = text(json, "schema");
  if (schema != kLedgerSchema) {
    throw LedgerError(fmt::format("schema: {}, must be {}", schema, kLedgerSchema));
  }
  try {
    return entry_of(json);
  } catch (const ContractError& error) {
    throw LedgerError(error.what());
  }
}

}  // namespace planegate::perf
