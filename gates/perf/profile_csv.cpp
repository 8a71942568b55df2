#include "gates/perf/profile_csv.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

namespace planegate::perf {
namespace {

constexpr std::string_view kStall = "stall_";

[[noreturn]] void fail(const std::string& file, int64_t line, int64_t column,
                       const std::string& what) {
  throw ProfileError(fmt::format("{}:{}:{}: {}", file, line, column, what));
}

[[noreturn]] void fail(const std::string& file, const CsvCell& cell, const std::string& what) {
  fail(file, cell.line, cell.column, what);
}

/// Reads cells; knows where it is.
class CsvReader {
 public:
  CsvReader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("==")) {
        while (at_ < text_.size() && take() != '\n') continue;
        continue;
      }
      CsvRow row = next_row();
      if (row.size() > 1 || !row[0].text.empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  char take() {
    const char c = text_[at_++];
    column_ = c == '\n' ? 1 : column_ + 1;
    line_ += c == '\n';
    return c;
  }
  bool at_end_of_cell() const {
    return peek() == ',' || peek() == '\n' || text_.substr(at_).starts_with("\r\n");
  }

  CsvRow next_row() {
    CsvRow row = {next_cell()};
    while (peek() == ',') {
      take();
      row.push_back(next_cell());
    }
    if (peek() == '\r') take();
    if (at_ < text_.size()) take();
    return row;
  }

  CsvCell next_cell() {
    CsvCell cell{"", line_, column_};
    if (peek() == '"' && at_ < text_.size()) {
      take();
      quoted(cell);
    } else {
      while (!at_end_of_cell()) cell.text += take();
    }
    return cell;
  }

  void quoted(CsvCell& cell) {
    for (;;) {
      if (at_ == text_.size()) fail(file_, cell, "a quote that never closes");
      const char c = take();
      if (c != '"') {
        cell.text += c;
      } else if (at_ < text_.size() && peek() == '"') {
        cell.text += take();
      } else {
        break;
      }
    }
    if (!at_end_of_cell()) fail(file_, line_, column_, "text behind a closing quote");
  }

  const std::string& file_;
  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1, column_ = 1;
};

std::string without_commas(std::string text) {
  std::erase(text, ',');
  return text;
}

int64_t count_of(const std::string& file, const CsvCell& cell, const std::string& column) {
  const std::string digits = without_commas(cell.text);
  int64_t value = 0;
  if (digits.empty()) return 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || value < 0) {
    fail(file, cell, fmt::format("{} = '{}': must be a count", column, cell.text));
  }
  return value;
}

/// Columns that the attribution needs, by name.
struct SourceColumns {
  size_t address = 0, sass = 0, samples = 0, width = 0;
  std::map<std::string, size_t> stalls;
};

size_t column_named(const std::string& file, const CsvRow& header,
                    const std::vector<std::string>& names) {
  std::optional<size_t> found;
  for (size_t i = 0; i < header.size(); ++i) {
    if (std::find(names.begin(), names.end(), header[i].text) == names.end()) continue;
    if (found) fail(file, header[i], fmt::format("column '{}' a second time", header[i].text));
    found = i;
  }
  if (!found) fail(file, header[0], fmt::format("no column '{}'", names[0]));
  return *found;
}

/// The columns without a qualifier count all samples; `(Not Issued)` ones are a part of them.
SourceColumns columns_of(const std::string& file, const CsvRow& header) {
  SourceColumns columns;
  columns.width = header.size();
  columns.address = column_named(file, header, {"Address", "PC"});
  columns.sass = column_named(file, header, {"Source", "SASS"});
  columns.samples = column_named(
      file, header, {"Warp Stall Sampling (All Samples)", "Warp Stall Sampling (All Cycles)"});
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header[i].text;
    if (!name.starts_with(kStall) || name.find(' ') != std::string::npos) continue;
    if (!columns.stalls.emplace(name.substr(kStall.size()), i).second) {
      fail(file, header[i], fmt::format("column '{}' a second time", name));
    }
  }
  if (columns.stalls.empty()) {
    fail(file, header[0], "no column stall_*: profile with --section SourceCounters");
  }
  return columns;
}

void check_width(const std::string& file, const CsvRow& row, size_t width) {
  if (row.size() == width) return;
  const CsvCell& at = row.size() > width ? row[width] : row.back();
  fail(file, at, fmt::format("{} cells, the header has {}", row.size(), width));
}

SampledInstruction instruction_of(const std::string& file, const CsvRow& row,
                                  const SourceColumns& columns) {
  check_width(file, row, columns.width);
  SampledInstruction one;
  one.address = row[columns.address].text;
  const std::string& sass = row[columns.sass].text;
  const size_t from = std::min(sass.find_first_not_of(' '), sass.size());
  one.sass = sass.substr(from, sass.find_last_not_of(' ') + 1 - from);
  one.samples = count_of(file, row[columns.samples], "Warp Stall Sampling (All Samples)");
  int64_t named = 0;
  for (const auto& [reason, column] : columns.stalls) {
    const int64_t count = count_of(file, row[column], std::string(kStall) + reason);
    if (count > 0) one.stalls[reason] = count;
    named += count;
  }
  if (named > one.samples) {
    fail(file, row[columns.samples],
         fmt::format("{} samples, its reasons add up to {}", one.samples, named));
  }
  return one;
}

bool is_kernel_line(const CsvRow& row) {
  return row[0].text == "Kernel Name";
}

}  // namespace

std::vector<CsvRow> csv_rows(const std::string& file, std::string_view text) {
  return CsvReader(file, text).rows();
}

int64_t SourceProfile::samples() const {
  int64_t sum = 0;
  for (const SampledInstruction& one : instructions) sum += one.samples;
  return sum;
}

SourceProfile parsed_source_page(const std::string& file, std::string_view text) {
  const std::vector<CsvRow> rows = csv_rows(file, text);
  SourceProfile profile;
  size_t at = 0;
  if (at < rows.size() && is_kernel_line(rows[at]) && rows[at].size() > 1) {
    profile.kernel = rows[at++][1].text;
  }
  if (at == rows.size()) fail(file, 1, 1, "no header: must be the source page of one launch");
  const SourceColumns columns = columns_of(file, rows[at++]);
  for (; at < rows.size(); ++at) {
    if (is_kernel_line(rows[at])) {
      fail(file, rows[at][0], "a second launch: profile one (--launch-count 1)");
    }
    profile.instructions.push_back(instruction_of(file, rows[at], columns));
  }
  if (profile.instructions.empty()) fail(file, 1, 1, "no instruction");
  return profile;
}

std::optional<double> RawProfile::metric(const std::string& name) const {
  const auto found = metrics.find(name);
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

RawProfile parsed_raw_page(const std::string& file, std::string_view text) {
  const std::vector<CsvRow> rows = csv_rows(file, text);
  if (rows.empty()) fail(file, 1, 1, "no header: must be the raw page of one launch");
  const CsvRow& header = rows[0];
  const size_t kernel = column_named(file, header, {"Kernel Name"});
  for (const CsvRow& row : rows) check_width(file, row, header.size());
  if (rows.size() != 3) {
    fail(file, rows.back()[0],
         fmt::format("{} rows: must be header, units and one launch (--launch-count 1)",
                     rows.size()));
  }
  if (!rows[1][kernel].text.empty()) fail(file, rows[1][kernel], "must be the row of units");
  RawProfile profile;
  profile.kernel = rows[2][kernel].text;
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string digits = without_commas(rows[2][i].text);
    double value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool number = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    const bool known = number && !profile.metrics.emplace(header[i].text, value).second;
    if (known && header[i].text.starts_with("smsp__")) {
      fail(file, header[i], fmt::format("column '{}' a second time", header[i].text));
    }
  }
  return profile;
}

}  // namespace planegate::perf
