#include "gates/perf/kernel_report.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include <planegate/core/demangle.h>
#include <planegate/core/file_content.h>

namespace planegate::perf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "build kernel_reports";

/// `planegate::...::GemmS8<...>` of `void ...::kernel_entry<planegate::...::GemmS8<...> >(...)`;
/// the whole name of a kernel that was not launched through kernel_entry.
std::string kernel_type(const std::string& symbol) {
  const std::string name = demangled(symbol);
  static const std::string kEntry = "kernel_entry<";
  const size_t at = name.find(kEntry);
  if (at == std::string::npos) return name;
  const size_t from = at + kEntry.size();
  int depth = 1;
  size_t to = from;
  for (; to < name.size() && depth > 0; ++to) {
    depth += name[to] == '<' ? 1 : name[to] == '>' ? -1 : 0;
  }
  std::string type = name.substr(from, to - from - 1);
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

template <class T>
void require_same_symbols(const std::string& file, const std::set<std::string>& want,
                          const std::map<std::string, T>& have) {
  for (const std::string& symbol : want) {
    if (have.count(symbol) == 0) {
      throw ReportError(
          fmt::format("{}: nothing of kernel {}, which the cubin holds", file, demangled(symbol)));
    }
  }
}

/// The kernels of STEM.cubin. `stem` is the path without that ending.
std::map<std::string, ReportedKernel> kernels_of(const std::string& stem) {
  const std::string cubin = report_text(stem + ".cubin", kRemedy);
  const auto sections = code_sections(stem + ".cubin", cubin);
  const auto use = parsed_ptxas(stem + ".ptxas.txt", report_text(stem + ".ptxas.txt", kRemedy));
  std::map<std::string, InstructionCounts> counts;
  const std::string sass = stem + ".sass.txt";
  if (fs::exists(sass)) counts = parsed_sass_counts(sass, report_text(sass, kRemedy));
  std::set<std::string> symbols;
  for (const auto& [symbol, code] : sections) symbols.insert(symbol);
  require_same_symbols(stem + ".ptxas.txt", symbols, use);
  if (!counts.empty()) require_same_symbols(sass, symbols, counts);
  std::map<std::string, ReportedKernel> kernels;
  for (const auto& [symbol, code] : sections) {
    ReportedKernel kernel{use.at(symbol), std::string(code), std::nullopt};
    if (!counts.empty()) kernel.instructions = counts.at(symbol);
    kernels.emplace(kernel_type(symbol), std::move(kernel));
  }
  return kernels;
}

std::vector<fs::path> cubins_in(const fs::path& folder) {
  std::error_code none;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".cubin") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::string report_text(const fs::path& path, const std::string& remedy) {
  try {
    return file_content(path);
  } catch (const fs::filesystem_error& error) {
    throw ReportError(path.string() + ": " + error.code().message() +
                      (remedy.empty() ? "" : "; " + remedy));
  }
}

KernelReports read_kernel_reports(const fs::path& folder) {
  KernelReports reports;
  reports.toolchain = report_text(folder / "toolchain.txt", kRemedy);
  while (reports.toolchain.ends_with('\n')) reports.toolchain.pop_back();
  for (const fs::path& cubin : cubins_in(folder)) {
    const fs::path stem = fs::path(cubin).replace_extension();
    const std::string architecture = stem.extension().string();
    if (!architecture.starts_with(".sm_")) {
      throw ReportError(cubin.string() + ": is not named NAME.sm_NN.cubin");
    }
    reports.kernels[architecture.substr(1)].merge(kernels_of(stem.string()));
  }
  if (reports.kernels.empty()) throw ReportError(folder.string() + ": holds no cubin");
  return reports;
}

}  // namespace planegate::perf
