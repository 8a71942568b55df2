#include "gates/perf/budget.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "gates/perf/occupancy.h"
#include "gates/perf/token.h"

namespace planegate::perf {
namespace {

bool copies_asynchronously(const ConsumerSpec& consumer) {
  return std::any_of(consumer.policies.begin(), consumer.policies.end(),
                     [](const Policy& policy) { return policy.name == "cp.async"; });
}

bool multiplies_on_tensor_cores(const ConsumerSpec& consumer) {
  return std::any_of(consumer.policies.begin(), consumer.policies.end(), [](const Policy& policy) {
    return policy.kind == "arithmetic" && policy.name.find("mma m") != std::string::npos;
  });
}

BuiltKernel built(const KernelEntry& kernel, const std::string& architecture,
                  const ReportedKernel& reported) {
  BuiltKernel made;
  made.architecture = architecture;
  made.kernel = kernel.name();
  made.code = reported.code;
  made.code_hash = sha256(reported.code);
  made.instructions = reported.instructions;
  const KernelUse& use = reported.use;
  made.found = {{Quantity::kRegisters, use.registers},
                {Quantity::kStack, use.stack_bytes},
                {Quantity::kSpill, use.spill_bytes},
                {Quantity::kShared, use.shared_bytes},
                {Quantity::kBlocksPerSm, blocks_per_sm(limits_of(architecture), kernel.threads,
                                                       use.registers, use.shared_bytes)}};
  if (made.instructions) made.found[Quantity::kLocalInLoop] = made.instructions->local_in_loop;
  return made;
}

/// What one build says of one kernel, put beside its entry.
class Judge {
 public:
  Judge(const BudgetTable& table, const std::string& toolchain)
      : table_(table), toolchain_(toolchain) {}

  void judge(const BuiltKernel& kernel) {
    at_ = &kernel;
    require_instructions();
    const auto of_architecture = table_.entries.find(kernel.architecture);
    if (of_architecture == table_.entries.end() ||
        of_architecture->second.count(kernel.instance) == 0) {
      return say("entry", "none", "one in the table", "every kernel that is timed has a budget");
    }
    compare(of_architecture->second.at(kernel.instance));
  }

  void say(const std::string& quantity, const std::string& found, const std::string& allowed,
           std::string reason) {
    if (toolchain_ != table_.toolchain) {
      reason += fmt::format(" [the table was made with {}, this build with {}]", table_.toolchain,
                            toolchain_);
    }
    found_.push_back(
        {at_->instance, at_->architecture, quantity, found, allowed, std::move(reason)});
  }

  void judge_unused(const std::string& architecture, const std::string& instance) {
    BuiltKernel absent;
    absent.architecture = architecture;
    absent.instance = instance;
    at_ = &absent;
    say("entry", "no such kernel in this build", "entries of kernels alone",
        "what is left over would hide the next kernel of that name");
  }

  std::vector<Breach> end() { return std::move(found_); }

 private:
  void require_instructions() {
    if (!at_->instructions) return;
    if (at_->needs_async_copies && at_->instructions->async_copies == 0) {
      say("16-byte asynchronous copies", "0", "at least 1", "a policy of the consumer is cp.async");
    }
    if (at_->needs_mma && at_->instructions->mma == 0) {
      say("mma instructions", "0", "at least 1", "the consumer's arithmetic is mma");
    }
  }

  void compare(const BudgetEntry& entry) {
    if (toolchain_ == table_.toolchain && at_->code_hash != entry.code_hash) {
      say("code", at_->code_hash.substr(0, 16), entry.code_hash.substr(0, 16),
          "the kernel changed since its budget was looked at: planegate budget --update");
    }
    for (const auto& [quantity, found] : at_->found) {
      const int64_t allowed = entry.allowed.at(quantity);
      const bool at_least = quantity == Quantity::kBlocksPerSm;
      if (at_least ? found >= allowed : found <= allowed) continue;
      say(text_of(quantity), std::to_string(found),
          (at_least ? "at least " : "at most ") + std::to_string(allowed),
          table_.reason(at_->instance, entry, quantity));
    }
  }

  const BudgetTable& table_;
  std::string toolchain_;
  const BuiltKernel* at_ = nullptr;
  std::vector<Breach> found_;
};

}  // namespace

std::string instance_name(const ConsumerSpec& consumer, const KernelEntry& kernel) {
  return consumer.name + "/" + kernel.name();
}

std::string text_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::kRegisters:
      return "registers";
    case Quantity::kStack:
      return "stack_bytes";
    case Quantity::kSpill:
      return "spill_bytes";
    case Quantity::kShared:
      return "shared_bytes";
    case Quantity::kBlocksPerSm:
      return "blocks_per_sm";
    case Quantity::kLocalInLoop:
      return "local_in_loop";
  }
  return "";
}

std::string text_of(const Breach& breach) {
  return fmt::format("{} {}: {} {}, allowed {}: {}", breach.instance, breach.architecture,
                     breach.quantity, breach.found, breach.allowed, breach.reason);
}

const std::string& BudgetTable::reason(const std::string& instance, const BudgetEntry& entry,
                                       Quantity quantity) const {
  static const std::string none;
  const auto own = entry.reasons.find(quantity);
  if (own != entry.reasons.end()) return own->second;
  const auto of_kernel = reasons.find(instance.substr(instance.rfind('/') + 1));
  if (of_kernel == reasons.end()) return none;
  const auto found = of_kernel->second.find(quantity);
  return found == of_kernel->second.end() ? none : found->second;
}

std::vector<BuiltKernel> built_kernels(const Catalog& catalog, const KernelReports& reports) {
  std::vector<BuiltKernel> all;
  for (const auto& [architecture, kernels] : reports.kernels) {
    for (const ConsumerSpec& consumer : catalog.consumers()) {
      const DeviceLaunch* on = consumer.on(DeviceKind::kCuda);
      // What an architecture never launches has no budget there.
      const bool elsewhere =
          on != nullptr && !on->architecture.empty() && on->architecture != architecture;
      if (elsewhere) continue;
      bool first = true;
      for (const KernelEntry& kernel : consumer.kernels_on(DeviceKind::kCuda)) {
        const auto reported = kernels.find(kernel.type);
        const std::string instance = instance_name(consumer, kernel);
        if (reported == kernels.end()) {
          throw ReportError(
              fmt::format("{} {}: no report of {}", instance, architecture, kernel.type));
        }
        ReportedKernel report = reported->second;
        report.use.shared_bytes += kernel.dynamic_shared_bytes;
        BuiltKernel made = built(kernel, architecture, report);
        made.instance = instance;
        made.needs_async_copies = first && copies_asynchronously(consumer);
        made.needs_mma = first && multiplies_on_tensor_cores(consumer);
        all.push_back(std::move(made));
        first = false;
      }
    }
  }
  return all;
}

std::vector<Breach> breaches(const BudgetTable& table, const std::string& toolchain,
                             const std::vector<BuiltKernel>& built) {
  Judge judge(table, toolchain);
  std::map<std::string, std::set<std::string>> seen;
  for (const BuiltKernel& kernel : built) {
    judge.judge(kernel);
    seen[kernel.architecture].insert(kernel.instance);
  }
  for (const auto& [architecture, instances] : seen) {
    const auto entries = table.entries.find(architecture);
    if (entries == table.entries.end()) continue;
    for (const auto& [instance, entry] : entries->second) {
      if (instances.count(instance) == 0) judge.judge_unused(architecture, instance);
    }
  }
  return judge.end();
}

std::vector<Breach> not_in_program(const std::vector<BuiltKernel>& built,
                                   std::string_view program) {
  std::vector<Breach> found;
  for (const BuiltKernel& kernel : built) {
    if (program.find(kernel.code) != std::string_view::npos) continue;
    found.push_back({kernel.instance, kernel.architecture, "code", "not in this program",
                     "what the program holds",
                     "the reports are of another build: build kernel_reports and the program"});
  }
  return found;
}

BudgetTable updated(const BudgetTable& table, const std::string& toolchain,
                    const std::vector<BuiltKernel>& built) {
  BudgetTable made = table;
  made.toolchain = toolchain;
  for (const BuiltKernel& kernel : built) made.entries[kernel.architecture].clear();
  for (const BuiltKernel& kernel : built) {
    BudgetEntry entry;
    const auto before = table.entries.find(kernel.architecture);
    if (before != table.entries.end() && before->second.count(kernel.instance) != 0) {
      entry = before->second.at(kernel.instance);
    }
    entry.code_hash = kernel.code_hash;
    for (const auto& [quantity, found] : kernel.found) entry.allowed[quantity] = found;
    if (entry.allowed.count(Quantity::kLocalInLoop) == 0) {
      throw ReportError(kernel.instance + " " + kernel.architecture +
                        ": local_in_loop: needs nvdisasm (CMake: PLANEGATE_NVDISASM)");
    }
    for (const Quantity quantity : kQuantities) made.reasons[kernel.kernel][quantity];
    made.entries[kernel.architecture][kernel.instance] = std::move(entry);
  }
  return made;
}

}  // namespace planegate::perf
