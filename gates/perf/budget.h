#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <planegate/core/catalog.h>
#include <planegate/devices/device.h>

#include "gates/perf/kernel_report.h"

/// Budgets before time: what each kernel may take on each architecture, and why
/// (docs/budgets.md).
namespace planegate::perf {

inline constexpr const char* kBudgetsSchema = "planegate.budgets/1";

/// What a budget limits. Quantities are in the units of KernelUse and InstructionCounts.
enum class Quantity { kRegisters, kStack, kSpill, kShared, kBlocksPerSm, kLocalInLoop };
inline constexpr Quantity kQuantities[] = {Quantity::kRegisters,   Quantity::kStack,
                                           Quantity::kSpill,       Quantity::kShared,
                                           Quantity::kBlocksPerSm, Quantity::kLocalInLoop};
/// `registers`, `stack_bytes`, `blocks_per_sm` and so on: as the table spells them.
std::string text_of(Quantity quantity);

/// One kernel of one consumer on one architecture, as this build made it.
struct BuiltKernel {
  std::string instance;  ///< `w_exp/split_k/ReduceSplits`
  std::string architecture;
  std::string kernel;     ///< `ReduceSplits`
  std::string code;       ///< the instructions, encoded
  std::string code_hash;  ///< their SHA-256, hex
  /// No kLocalInLoop without a disassembler.
  std::map<Quantity, int64_t> found;
  std::optional<InstructionCounts> instructions;
  bool needs_async_copies = false;  ///< a policy of the consumer says so
  bool needs_mma = false;
};

std::string instance_name(const ConsumerSpec& consumer, const KernelEntry& kernel);

/// The kernels of all consumers that a device's compiler made, per architecture of the reports.
/// What the policies promise is asked of the first kernel of a consumer, which reads the planes.
/// @throws ReportError: a kernel that is not in the reports.
///         ContractError: an architecture whose limits are not known.
std::vector<BuiltKernel> built_kernels(const Catalog& catalog, const KernelReports& reports);

struct BudgetEntry {
  std::string code_hash;
  std::map<Quantity, int64_t> allowed;      ///< at most; of kBlocksPerSm at least
  std::map<Quantity, std::string> reasons;  ///< where they are not those of the kernel

  friend bool operator==(const BudgetEntry&, const BudgetEntry&) = default;
};

struct BudgetTable {
  std::string toolchain;
  /// By kernel (`GemmS8`): why its instances are allowed what they are.
  std::map<std::string, std::map<Quantity, std::string>> reasons;
  /// By architecture and instance.
  std::map<std::string, std::map<std::string, BudgetEntry>> entries;

  /// The instance's own reason, else its kernel's.
  const std::string& reason(const std::string& instance, const BudgetEntry& entry,
                            Quantity quantity) const;
  friend bool operator==(const BudgetTable&, const BudgetTable&) = default;
};

/// @post parsed_budgets(file, to_json(t)) equals t.
std::string to_json(const BudgetTable& table);
/// @throws ReportError, `FILE: MEMBER: requirement`: no JSON, another schema, a member that is
///         missing, unknown or of another type, a negative number, an allowance without a reason.
BudgetTable parsed_budgets(const std::string& file, std::string_view text);

/// One quantity beyond its budget.
struct Breach {
  std::string instance, architecture;
  std::string quantity;
  std::string found, allowed;
  std::string reason;
};
/// `INSTANCE ARCHITECTURE: QUANTITY FOUND, allowed ALLOWED: REASON`.
std::string text_of(const Breach& breach);

/// Compares a build with the table.
///
/// A kernel without an entry and, for the architectures of the build, an entry without a kernel are
/// breaches. Code that differs from the table's is a breach where the toolchain is the table's own;
/// under another one the code may differ, the allowances hold all the same, and each breach says
/// which toolchain the table was made with.
std::vector<Breach> breaches(const BudgetTable& table, const std::string& toolchain,
                             const std::vector<BuiltKernel>& built);

/// Kernels whose code does not stand in `program`: the reports are of another build.
std::vector<Breach> not_in_program(const std::vector<BuiltKernel>& built, std::string_view program);

/// Kernels whose attributes on `device` are not those of the reports; stack is compared in units
/// of 16 bytes. None where the device reports no attributes. @throws DeviceError.
/// A kernel that runs code of an architecture without reports is a breach.
std::vector<Breach> disagreements(const Catalog& catalog, const std::vector<BuiltKernel>& built,
                                  Device& device);

/// The table for this build: its figures and code, the reasons of `table`; reasons that are missing
/// are left empty, which parsed_budgets() refuses until somebody writes them. Architectures that
/// are not built keep their entries.
/// @throws ReportError: a kernel without instruction counts whose entry has none to keep.
BudgetTable updated(const BudgetTable& table, const std::string& toolchain,
                    const std::vector<BuiltKernel>& built);

}  // namespace planegate::perf
