#include "cli/attribute_text.h"

#include <fmt/format.h>

#include "cli/table.h"

namespace planegate::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

std::string class_rows(const perf::Attribution& found) {
  Rows rows = {{"waits for", "samples", "per unit of work", "share"}};
  for (size_t c = 0; c < perf::kWaitClasses; ++c) {
    const perf::ClassTotal& total = found.totals[c];
    const std::string share = total.share ? share_text(total.share) : "none: " + total.why_no_share;
    rows.push_back({std::string(text_of(static_cast<perf::WaitClass>(c))),
                    std::to_string(total.samples),
                    fmt::format("{:.6g}", static_cast<double>(total.samples) / found.work), share});
  }
  return table(rows);
}

std::string stall_rows(const perf::SourceProfile& source, const perf::Attribution& found,
                       size_t most) {
  Rows rows = {{"samples", "reason", "waits for", "instruction that waits", "for the result of"}};
  for (const perf::BookedStall& stall : found.stalls) {
    if (rows.size() > most) break;
    const auto& consumer = source.instructions[stall.consumer];
    const std::string producer =
        stall.producer < 0 ? "-" : source.instructions[static_cast<size_t>(stall.producer)].sass;
    rows.push_back({std::to_string(stall.samples), stall.reason, std::string(text_of(stall.waits)),
                    consumer.address + " " + consumer.sass, producer});
  }
  return table(rows);
}

}  // namespace

std::string attribution_text(const perf::SourceProfile& source, const perf::Attribution& found,
                             size_t most) {
  return fmt::format("{}\n{} samples, none dropped\n\n{}\n{}", found.kernel, found.samples,
                     class_rows(found), stall_rows(source, found, most));
}

std::string comparison_text(const std::vector<perf::ClassChange>& changes) {
  Rows rows = {{"waits for", "before", "after", "share before", "share after", "change"}};
  for (const perf::ClassChange& change : changes) {
    rows.push_back({std::string(text_of(change.waits)), fmt::format("{:.6g}", change.a),
                    fmt::format("{:.6g}", change.b), share_text(change.share_a),
                    share_text(change.share_b), change.text});
  }
  return "samples per unit of work\n\n" + table(rows);
}

}  // namespace planegate::cli
