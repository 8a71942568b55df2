#include "cli/ledger_svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace planegate::cli {
namespace {

using perf::Delta;
using perf::LedgerEntry;

constexpr double kLabelWidth = 400, kPlotWidth = 520, kMargin = 24;
constexpr double kTop = 56, kRowHeight = 40, kAxisHeight = 48;
constexpr size_t kLabelChars = 58;
constexpr const char* kDark = "#1a1a1a";
constexpr const char* kMiddle = "#5f7f9f";
constexpr const char* kBand = "#e4e4e4";

/// The axis in percent and its place on the page.
struct Axis {
  double low = -1, high = 1, step = 0.5;
  double x(double percent) const {
    return kMargin + kLabelWidth + (percent - low) / (high - low) * kPlotWidth;
  }
};

/// About eight steps of 1, 2 or 5 times a power of ten.
double nice_step(double range) {
  const double raw = range / 8;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

Axis axis_of(const std::vector<LedgerEntry>& entries) {
  double low = 0, high = 0;
  const auto hold = [&](double from, double to) {
    low = std::min(low, from);
    high = std::max(high, to);
  };
  for (const LedgerEntry& entry : entries) {
    for (const auto& delta : {entry.kernel, entry.wall}) {
      if (delta) hold(delta->low, delta->high);
    }
    if (entry.bar_percent) hold(-*entry.bar_percent, *entry.bar_percent);
  }
  if (high - low < 1e-9) return {};
  const double step = nice_step(high - low);
  return {(std::floor(low / step) - 0.5) * step, (std::ceil(high / step) + 0.5) * step, step};
}

/// At most `most` characters of UTF-8.
std::string shortened(const std::string& text, size_t most) {
  size_t chars = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts && chars++ == most) return text.substr(0, i) + "..";
  }
  return text;
}

std::string line(double x1, double y1, double x2, double y2, const char* colour, double width) {
  return fmt::format(
      "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" "
      "stroke-width=\"{}\"/>\n",
      x1, y1, x2, y2, colour, width);
}

std::string words(double x, double y, const std::string& what, const char* anchor = "start",
                  int size = 12) {
  return fmt::format(
      "<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, size,
      anchor, xml_text(what));
}

std::string kernel_mark(double x, double y) {
  return fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"4.5\" fill=\"{}\"/>\n", x, y, kDark);
}

std::string wall_mark(double x, double y) {
  return fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"8\" height=\"8\" fill=\"#ffffff\" stroke=\"{}\" "
      "stroke-width=\"2\"/>\n",
      x - 4, y - 4, kMiddle);
}

std::string interval(const Axis& axis, const Delta& delta, double y, const char* colour) {
  const double from = axis.x(delta.low), to = axis.x(delta.high);
  return line(from, y, to, y, colour, 2) + line(from, y - 4, from, y + 4, colour, 1.5) +
         line(to, y - 4, to, y + 4, colour, 1.5);
}

std::string bar(const Axis& axis, double bar_percent, double top) {
  return fmt::format(
      "<rect class=\"bar\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{}\" "
      "fill=\"{}\"/>\n",
      axis.x(-bar_percent), top + 2, axis.x(bar_percent) - axis.x(-bar_percent), kRowHeight - 4,
      kBand);
}

std::string title(const LedgerEntry& e) {
  return fmt::format(
      "<title>{}</title>\n",
      xml_text(fmt::format("{} {}: {} against {}, {} on {}: {}, {}", e.time, e.mechanism, e.b, e.a,
                           e.workload, e.device, text_of(e.comparison), text_of(e.verdict))));
}

std::string row(const Axis& axis, const LedgerEntry& e, double top) {
  const double middle = top + kRowHeight / 2;
  std::string out = "<g>\n" + title(e);
  if (e.bar_percent) out += bar(axis, *e.bar_percent, top);
  const bool by_command = e.gate.starts_with(perf::kGateOfCommand);
  const std::string gated = e.token == perf::kUngated ? ", UNGATED"
                            : by_command              ? ", gated by a command"
                                                      : "";
  out += words(kMargin, middle - 4, shortened(e.mechanism, kLabelChars));
  out += words(
      kMargin, middle + 11,
      shortened(fmt::format("{}{}: {} / {}, {}", text_of(e.verdict), gated, e.b, e.a, e.workload),
                kLabelChars + 12),
      "start", 10);
  if (e.kernel) {
    out += interval(axis, *e.kernel, middle - 7, kDark);
    out += kernel_mark(axis.x(e.kernel->percent), middle - 7);
  }
  if (e.wall) {
    out += interval(axis, *e.wall, middle + 7, kMiddle);
    out += wall_mark(axis.x(e.wall->percent), middle + 7);
  }
  if (!e.kernel && !e.wall) out += words(axis.x(0) + 8, middle + 4, "no delta", "start", 10);
  return out + "</g>\n";
}

std::string legend() {
  const double x = kMargin + kLabelWidth, y = 34;
  return kernel_mark(x + 6, y - 4) + words(x + 16, y, "kernel") + wall_mark(x + 76, y - 4) +
         words(x + 86, y, "wall") +
         fmt::format("<rect x=\"{}\" y=\"{}\" width=\"16\" height=\"10\" fill=\"{}\"/>\n", x + 132,
                     y - 9, kBand) +
         words(x + 154, y, "bar: below it a difference counts for nothing");
}

std::string ticks(const Axis& axis, double bottom) {
  std::string out = line(axis.x(axis.low), bottom, axis.x(axis.high), bottom, kDark, 1);
  const double first = std::ceil(axis.low / axis.step);
  for (double i = first; i * axis.step <= axis.high; ++i) {
    const double percent = i * axis.step, x = axis.x(percent);
    out += line(x, bottom, x, bottom + 5, kDark, 1);
    out += words(x, bottom + 18, i == 0 ? "0" : fmt::format("{:+.4g}", percent), "middle", 11);
  }
  return out + words(axis.x((axis.low + axis.high) / 2), bottom + 36,
                     "time of b against a, percent (negative: b takes less)", "middle");
}

}  // namespace

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += byte < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string ledger_svg(const std::vector<LedgerEntry>& entries) {
  const Axis axis = axis_of(entries);
  const double bottom = kTop + kRowHeight * static_cast<double>(entries.size()) + 8;
  const double width = 2 * kMargin + kLabelWidth + kPlotWidth, height = bottom + kAxisHeight;
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" fill=\"{2}\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      width, height, kDark);
  out += words(kMargin, 34, "planegate ledger", "start", 15) + legend();
  double top = kTop;
  std::string rows;
  for (const LedgerEntry& entry : entries) {
    rows += row(axis, entry, top);
    top += kRowHeight;
  }
  out += rows;
  out += fmt::format(
      "<line class=\"zero\" x1=\"{0:.2f}\" y1=\"{1}\" x2=\"{0:.2f}\" y2=\"{2}\" stroke=\"{3}\" "
      "stroke-width=\"1\" stroke-dasharray=\"4 3\"/>\n",
      axis.x(0), kTop - 4, bottom, kDark);
  return out + ticks(axis, bottom) + "</svg>\n";
}

}  // namespace planegate::cli
