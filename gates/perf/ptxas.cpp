#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "gates/perf/kernel_report.h"

namespace planegate::perf {
namespace {

constexpr const char* kBytes = "(\\d+) bytes ";

/// The number before or behind a word in a line of ptxas; 0 where the line does not name it.
int64_t number(const std::string& line, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(line, match, std::regex(pattern)) ? std::stoll(match[1]) : 0;
}

class PtxasReader {
 public:
  explicit PtxasReader(std::string file) : file_(std::move(file)) {}

  void take(const std::string& line) {
    static const std::regex compiling("Compiling entry function '([^']+)' for '[^']+'");
    std::smatch match;
    ++line_;
    if (std::regex_search(line, match, compiling)) {
      finish();
      symbol_ = match[1];
      if (found_.count(symbol_) != 0) fail("kernel " + symbol_ + " is there twice");
      use_ = {};
    } else if (line.find("bytes stack frame") != std::string::npos) {
      // Between an entry and its `Used` line; of a function that is called it comes after.
      if (symbol_.empty() || has_use_) return;
      has_stack_ = true;
      use_.stack_bytes = number(line, std::string(kBytes) + "stack frame");
      use_.spill_bytes = number(line, std::string(kBytes) + "spill stores") +
                         number(line, std::string(kBytes) + "spill loads");
    } else if (line.find("Used ") != std::string::npos && !symbol_.empty()) {
      has_use_ = true;
      use_.registers = number(line, "Used (\\d+) registers");
      use_.shared_bytes = number(line, std::string(kBytes) + "smem");
      if (use_.registers == 0) fail("no number of registers");
    }
  }

  std::map<std::string, KernelUse> end() {
    finish();
    if (found_.empty()) throw ReportError(file_ + ": holds no kernel; was -Xptxas=-v given?");
    return found_;
  }

 private:
  void finish() {
    if (symbol_.empty()) return;
    if (!has_stack_ || !has_use_) {
      fail(fmt::format("kernel {} has no line of {}", symbol_,
                       has_stack_ ? "registers" : "stack and spills"));
    }
    found_.emplace(symbol_, use_);
    symbol_.clear();
    has_stack_ = has_use_ = false;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw ReportError(fmt::format("{}:{}: {}", file_, line_, what));
  }

  std::string file_, symbol_;
  KernelUse use_;
  bool has_stack_ = false, has_use_ = false;
  int64_t line_ = 0;
  std::map<std::string, KernelUse> found_;
};

}  // namespace

std::map<std::string, KernelUse> parsed_ptxas(const std::string& file, std::string_view text) {
  PtxasReader reader(file);
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) reader.take(line);
  return reader.end();
}

}  // namespace planegate::perf
