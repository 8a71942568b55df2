#include "cli/ledger_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.h"

namespace planegate::cli {
namespace {

using perf::LedgerEntry;
using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kTokenChars = 12;

std::string delta_text(const std::optional<perf::Delta>& delta) {
  if (!delta) return "-";
  return fmt::format("{:+.2f} [{:+.2f}, {:+.2f}]", delta->percent, delta->low, delta->high);
}

std::string token_text(const std::string& token) {
  return token.size() > kTokenChars ? token.substr(0, kTokenChars) + ".." : token;
}

Rows rows_of(const std::vector<LedgerEntry>& entries) {
  Rows rows = {{"time", "mechanism", "a", "b", "device", "workload", "kernel %", "wall %",
                "VRAM bytes", "pairs", "comparison", "verdict", "token", "gate", "budget"}};
  for (const LedgerEntry& e : entries) {
    rows.push_back({e.time, e.mechanism, e.a, e.b, e.device, e.workload, delta_text(e.kernel),
                    delta_text(e.wall),
                    e.vram_delta_bytes ? fmt::format("{:+}", *e.vram_delta_bytes) : "-",
                    std::to_string(e.pairs), std::string(text_of(e.comparison)),
                    std::string(text_of(e.verdict)), token_text(e.token),
                    e.gate.empty() ? "-" : e.gate, e.budget.empty() ? "-" : e.budget});
  }
  return rows;
}

/// Control characters would break the row, or command the terminal.
std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    out += control ? ' ' : c;
  }
  return out;
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (c == '\n' || c == '\r') {
      out += "<br>";
    } else if (c == '|' || c == '\\') {
      out += std::string("\\") + c;
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += one_line({c});
    }
  }
  return out;
}

std::string markdown(const Rows& rows) {
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> cells;
    for (const std::string& cell : rows[i]) cells.push_back(markdown_cell(cell));
    out += fmt::format("| {} |\n", fmt::join(cells, " | "));
    if (i > 0) continue;
    for (size_t column = 0; column < cells.size(); ++column) out += "| --- ";
    out += "|\n";
  }
  return out;
}

std::string plain(Rows rows) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = one_line(cell);
  }
  return table(rows);
}

}  // namespace

std::string ledger_table(const std::vector<LedgerEntry>& entries) {
  return plain(rows_of(entries));
}

std::string ledger_markdown(const std::vector<LedgerEntry>& entries) {
  return markdown(rows_of(entries));
}

std::string waiting_table(const std::vector<LedgerEntry>& entries, bool as_markdown) {
  Rows rows = {{"time", "mechanism", "a", "b", "workload", "try again when"}};
  for (const LedgerEntry& e : entries) {
    if (e.verdict != perf::LedgerVerdict::kWaiting) continue;
    rows.push_back({e.time, e.mechanism, e.a, e.b, e.workload, e.retry_when});
  }
  if (rows.size() == 1) return "nothing waits\n";
  return as_markdown ? markdown(rows) : plain(std::move(rows));
}

}  // namespace planegate::cli
