#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <planegate/core/errors.h>

#include "cli/ab_consumers.h"
#include "cli/ab_programs.h"
#include "cli/ab_text.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "gates/perf/ledger_file.h"
#include "gates/perf/utc.h"

namespace planegate::cli {
namespace {

/// Either two consumers or two programs, each with what it needs.
bool of_programs(const AbArguments& a) {
  const bool programs = !a.cmd_a.empty() || !a.cmd_b.empty();
  const bool consumers = !a.a.empty() || !a.b.empty();
  if (programs == consumers) {
    throw CommandError(kWrongUse, "either --a and --b, or --cmd-a, --cmd-b and --metric");
  }
  if (programs && (a.cmd_a.empty() || a.cmd_b.empty() || a.metric.empty())) {
    throw CommandError(kWrongUse, "programs need --cmd-a, --cmd-b and --metric");
  }
  if (consumers && (a.a.empty() || a.b.empty() || !a.nt || (a.model.empty() != (a.od && a.id)))) {
    throw CommandError(kWrongUse,
                       "consumers need --a, --b, --nt, and either --od and --id or --replay MODEL");
  }
  return programs;
}

/// Decided before the timing, --landed holds for what the timing does not speak against.
bool speaks_against_landing(perf::Comparison comparison) {
  return comparison == perf::Comparison::kSlower || comparison == perf::Comparison::kUndecided;
}

perf::LedgerVerdict fate(const AbArguments& a, perf::Comparison comparison) {
  if (a.landed) {
    return speaks_against_landing(comparison) ? perf::LedgerVerdict::kMeasuredOnly
                                              : perf::LedgerVerdict::kLanded;
  }
  if (a.reverted) return perf::LedgerVerdict::kReverted;
  return a.retry_when.empty() ? perf::LedgerVerdict::kMeasuredOnly : perf::LedgerVerdict::kWaiting;
}

perf::LedgerEntry entry_of(const AbArguments& a, const AbReport& report) {
  perf::LedgerEntry entry;
  entry.time = perf::utc_now();
  entry.mechanism = a.mechanism;
  entry.a = report.a;
  entry.b = report.b;
  entry.device = report.device;
  entry.workload = report.workload;
  entry.token = report.token;
  entry.gate = report.gate;
  entry.budget = a.budget;
  if (report.result.kernel) entry.kernel = report.result.kernel->delta;
  entry.wall = report.result.wall.delta;
  entry.bar_percent = report.bar_percent;
  entry.vram_delta_bytes = report.vram_delta_bytes;
  entry.pairs = 2 * report.result.quads;
  entry.comparison = report.result.comparison;
  entry.verdict = fate(a, report.result.comparison);
  entry.retry_when = a.retry_when;
  return entry;
}

bool says_what_became_of_b(const AbArguments& a) {
  return a.landed || a.reverted || !a.retry_when.empty();
}

/// Before anything runs: what no ledger takes is refused then.
void require_ledger(const AbArguments& a) {
  if (a.planted_launches > 0 && (!a.ledger.empty() || says_what_became_of_b(a))) {
    throw CommandError(kWrongUse,
                       "--planted-launches makes b slower on purpose: no --ledger takes that");
  }
  if (!a.ledger.empty() && a.mechanism.empty()) {
    throw CommandError(kWrongUse, "--ledger needs --mechanism TEXT");
  }
  if (a.ledger.empty() && (!a.mechanism.empty() || !a.budget.empty() || says_what_became_of_b(a))) {
    throw CommandError(kWrongUse, "--mechanism and what became of it are for --ledger FILE");
  }
}

/// Before anything runs: the entry breaks no rule, whatever will be measured, and can be written.
void require_writable_entry(const AbArguments& a) {
  if (a.ledger.empty()) return;
  AbReport untimed;
  untimed.a = untimed.b = untimed.workload = untimed.device = untimed.token = "untimed";
  untimed.result.comparison = perf::Comparison::kEquivalent;
  try {
    check(entry_of(a, untimed));
    perf::require_appendable(a.ledger);
  } catch (const ContractError& error) {
    throw CommandError(kWrongUse, error.what());
  } catch (const perf::LedgerError& error) {
    throw CommandError(kBadInput, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    throw CommandError(kWrongUse, fmt::format("--ledger {}: {}", a.ledger, error.code().message()));
  }
}

/// Before anything is timed.
void require_landable(const AbArguments& a, const std::string& token) {
  if (a.landed && token == perf::kUngated) {
    throw CommandError(kNothingVerified, "what is UNGATED cannot have landed");
  }
}

std::string note_on_landing(const AbArguments& a, perf::Comparison comparison) {
  if (!a.landed || !speaks_against_landing(comparison)) return {};
  return fmt::format(
      " as measured-only, not as landed: b is {}. If it was taken all the same, `planegate ledger "
      "--add` records that",
      perf::text_of(comparison));
}

void append(const AbArguments& a, const AbReport& report) {
  if (a.ledger.empty()) return;
  try {
    perf::append_to_ledger(a.ledger, entry_of(a, report));
  } catch (const perf::LedgerError& error) {
    throw CommandError(kBadInput, error.what());
  } catch (const ContractError& error) {
    throw CommandError(kWrongUse, error.what());
  }
  fmt::print("{}: added{}\n", a.ledger, note_on_landing(a, report.result.comparison));
}

/// Undecided is no verdict, and a number without green gates is none either.
ExitCode exit_code(const AbReport& report) {
  if (report.result.comparison == perf::Comparison::kUndecided) return kNothingVerified;
  if (!report.gated()) return kNothingVerified;
  return report.result.comparison == perf::Comparison::kSlower ? kGateFailed : kVerified;
}

}  // namespace

ExitCode ab(const AbArguments& arguments) {
  const bool programs = of_programs(arguments);
  require_ledger(arguments);
  require_writable_entry(arguments);
  std::optional<ReplacingFile> json;
  open_output("--json", arguments.json, {}, json);
  const auto ready = [&](const std::string& token) { require_landable(arguments, token); };
  const AbReport report =
      programs ? ab_of_programs(arguments, ready) : ab_of_consumers(arguments, ready);
  fmt::print("{}", ab_text(report));
  append(arguments, report);
  const ExitCode code = exit_code(report);
  if (json) {
    const std::string text = ab_json(report, code);
    json->append(std::as_bytes(std::span(text)));
    json->commit();
  }
  return code;
}

}  // namespace planegate::cli
