#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

/// What the compiler says of the kernels of a build, no GPU needed.
namespace planegate::perf {

/// `FILE:LINE: what, requirement`, or `FILE: ...` for a whole file.
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A whole file. @throws ReportError, `FILE: is missing or unreadable`, and what to do about it.
std::string report_text(const std::filesystem::path& path, const std::string& remedy = "");

/// Registers and memory of one kernel, as ptxas reports them.
struct KernelUse {
  int64_t registers = 0;     ///< of a thread
  int64_t stack_bytes = 0;   ///< of a thread
  int64_t spill_bytes = 0;   ///< stores and loads in the code, together
  int64_t shared_bytes = 0;  ///< static, of a block

  friend bool operator==(const KernelUse&, const KernelUse&) = default;
};

/// Instructions that a budget speaks of.
struct InstructionCounts {
  int64_t async_copies = 0;   ///< LDGSTS of 16 bytes
  int64_t mma = 0;            ///< IMMA, HMMA and their kin
  int64_t local_in_loop = 0;  ///< LDL and STL between a backward branch and its target

  friend bool operator==(const InstructionCounts&, const InstructionCounts&) = default;
};

/// Use by symbol: what `ptxas -v` printed. @throws ReportError, its text starting with `file`.
std::map<std::string, KernelUse> parsed_ptxas(const std::string& file, std::string_view text);
/// Code by symbol: the .text sections of a cubin. Views into `cubin`.
/// @throws ReportError for what is no 64-bit ELF of CUDA, or is cut short.
std::map<std::string, std::string_view> code_sections(const std::string& file,
                                                      std::string_view cubin);
/// Counts by symbol: what `nvdisasm -c` printed.
/// @throws ReportError: instructions before any section, a branch to no label of its section, or
///         no instruction at all.
std::map<std::string, InstructionCounts> parsed_sass_counts(const std::string& file,
                                                            std::string_view text);

/// One kernel of one architecture.
struct ReportedKernel {
  KernelUse use;
  std::string code;                               ///< the instructions, encoded
  std::optional<InstructionCounts> instructions;  ///< none without a disassembler
};

/// The reports of a build (planegate_kernel_reports in cmake/).
struct KernelReports {
  std::string toolchain;  ///< `nvcc 13.0.88`
  /// By architecture (`sm_90`) and type of the kernel as C++ spells it.
  std::map<std::string, std::map<std::string, ReportedKernel>> kernels;
};

/// Reads toolchain.txt and each NAME.sm_NN.cubin with its .ptxas.txt and .sass.txt.
/// @throws ReportError: a file that is missing or malformed, a kernel that is not in each of them,
///         or no cubin at all.
KernelReports read_kernel_reports(const std::filesystem::path& folder);

}  // namespace planegate::perf
