#include <charconv>
#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <planegate/core/errors.h>

#include "cli/commands.h"
#include "cli/ledger_svg.h"
#include "cli/ledger_text.h"
#include "cli/output_file.h"
#include "gates/perf/ledger_file.h"
#include "gates/perf/utc.h"

namespace planegate::cli {
namespace {

/// `PERCENT,LOW,HIGH` of option `option`.
std::optional<perf::Delta> delta_of(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  double values[3] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (at == end || *at++ != ',')) at = nullptr;
    if (at != nullptr && at != end && *at == '+') ++at;
    const auto read = at == nullptr ? std::from_chars_result{end, std::errc::invalid_argument}
                                    : std::from_chars(at, end, values[i]);
    if (read.ec != std::errc() || (i == 2 && read.ptr != end)) {
      throw CommandError(kWrongUse, fmt::format("{} {}: must be PERCENT,LOW,HIGH", option, text));
    }
    at = read.ptr;
  }
  return perf::Delta{values[0], values[1], values[2]};
}

perf::LedgerEntry entry_of(const LedgerArguments& a) {
  perf::LedgerEntry entry;
  entry.time = perf::utc_now();
  entry.mechanism = a.mechanism;
  entry.a = a.a;
  entry.b = a.b;
  entry.device = a.device;
  entry.workload = a.workload;
  entry.budget = a.budget;
  entry.kernel = delta_of("--kernel", a.kernel);
  entry.wall = delta_of("--wall", a.wall);
  entry.bar_percent = a.bar_percent;
  entry.vram_delta_bytes = a.vram_delta_bytes;
  entry.pairs = a.pairs;
  entry.comparison = perf::comparison_named(a.comparison);
  entry.verdict = perf::ledger_verdict_named(a.verdict);
  entry.retry_when = a.retry_when;
  return entry;
}

void say(const std::string& path, const std::optional<perf::DamagedLine>& damaged) {
  if (!damaged) return;
  const std::string where = damaged->kept_as.empty()
                                ? "left where it is (the file cannot be written)"
                                : "moved to " + damaged->kept_as.string();
  fmt::print(stderr, "planegate: {}:{}: a line that was not finished, {}\n", path, damaged->line,
             where);
}

/// The option that holds a member of an entry.
std::string option_of(const std::string& member) {
  if (member == "device") return "--on";
  if (member == "bar_percent") return "--bar";
  std::string option = "--" + member;
  for (char& c : option) c = c == '_' ? '-' : c;
  return option;
}

ExitCode add(const LedgerArguments& a) {
  try {
    say(a.path, perf::append_to_ledger(a.path, entry_of(a)));
  } catch (const ContractError& error) {
    const std::string what = error.what();
    throw CommandError(kWrongUse,
                       option_of(error.argument()) + what.substr(error.argument().size()));
  } catch (const perf::LedgerError& error) {
    throw CommandError(kBadInput, error.what());
  }
  fmt::print("{}: added, UNGATED\n", a.path);
  return kVerified;
}

perf::LedgerContent content_of(const std::string& path) {
  try {
    return perf::read_ledger(path);
  } catch (const perf::LedgerError& error) {
    throw CommandError(kBadInput, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    throw CommandError(kBadInput, fmt::format("{}: {}", path, error.code().message()));
  }
}

}  // namespace

ExitCode ledger(const LedgerArguments& arguments) {
  if (arguments.add) return add(arguments);
  const perf::LedgerContent content = content_of(arguments.path);
  std::error_code none;
  if (std::filesystem::equivalent(arguments.svg, arguments.path, none)) {
    throw CommandError(kWrongUse, "--svg " + arguments.svg + ": is the ledger itself");
  }
  std::optional<ReplacingFile> svg;
  open_output("--svg", arguments.svg, {}, svg);
  say(arguments.path, content.damaged);
  const auto& entries = content.entries;
  if (arguments.waiting) {
    fmt::print("{}", waiting_table(entries, arguments.markdown));
  } else {
    fmt::print("{}", arguments.markdown ? ledger_markdown(entries) : ledger_table(entries));
  }
  if (svg) {
    const std::string text = ledger_svg(entries);
    svg->append(std::as_bytes(std::span(text)));
    svg->commit();
  }
  return kVerified;
}

}  // namespace planegate::cli
