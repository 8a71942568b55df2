#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/table.h"
#include "gates/perf/budget_run.h"

namespace planegate::cli {
namespace {

using Json = nlohmann::ordered_json;
using perf::BudgetRun;
using perf::Quantity;

std::string cell(const perf::BuiltKernel& kernel, Quantity quantity) {
  const auto found = kernel.found.find(quantity);
  return found == kernel.found.end() ? "-" : std::to_string(found->second);
}

std::string kernel_rows(const BudgetRun& run) {
  std::vector<std::vector<std::string>> rows = {{"kernel", "on", "registers", "stack", "spill",
                                                 "shared", "blocks/SM", "async copies", "mma",
                                                 "local in loops", "code"}};
  for (const perf::BuiltKernel& kernel : run.kernels) {
    std::vector<std::string> row = {kernel.instance, kernel.architecture};
    for (const Quantity quantity : {Quantity::kRegisters, Quantity::kStack, Quantity::kSpill,
                                    Quantity::kShared, Quantity::kBlocksPerSm}) {
      row.push_back(cell(kernel, quantity));
    }
    const auto& counts = kernel.instructions;
    row.push_back(counts ? std::to_string(counts->async_copies) : "-");
    row.push_back(counts ? std::to_string(counts->mma) : "-");
    row.push_back(cell(kernel, Quantity::kLocalInLoop));
    row.push_back(kernel.code_hash.substr(0, 12));
    rows.push_back(std::move(row));
  }
  return table(rows);
}

Json kernel_json(const perf::BuiltKernel& kernel) {
  Json json = {{"instance", kernel.instance},
               {"architecture", kernel.architecture},
               {"code", kernel.code_hash}};
  for (const auto& [quantity, found] : kernel.found) json[text_of(quantity)] = found;
  if (kernel.instructions) {
    json["async_copies"] = kernel.instructions->async_copies;
    json["mma"] = kernel.instructions->mma;
  }
  return json;
}

std::string json_text(const BudgetRun& run, const BudgetArguments& arguments,
                      const std::string& device, int exit_code) {
  Json json = {{"schema", kBudgetSchema},
               {"planegate", PLANEGATE_VERSION},
               {"toolchain", run.toolchain},
               {"table", arguments.table},
               {"instructions", run.has_instructions()},
               {"exit_code", exit_code}};
  if (!device.empty()) json["device"] = device;
  for (const auto& kernel : run.kernels) json["kernels"].push_back(kernel_json(kernel));
  for (const perf::Breach& breach : run.breaches) {
    json["breaches"].push_back({{"instance", breach.instance},
                                {"architecture", breach.architecture},
                                {"quantity", breach.quantity},
                                {"found", breach.found},
                                {"allowed", breach.allowed},
                                {"reason", breach.reason}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write(std::optional<ReplacingFile>& file, const std::string& text) {
  if (!file) return;
  file->append(std::as_bytes(std::span(text)));
  file->commit();
}

/// What --update changes: `w_exp/cp_async/GemmS8 sm_90: registers 80 -> 96`, a line each.
std::string changes(const perf::BudgetTable& before, const perf::BudgetTable& after) {
  std::string out;
  for (const auto& [architecture, entries] : after.entries) {
    for (const auto& [instance, entry] : entries) {
      const auto of = before.entries.find(architecture);
      const auto old = of == before.entries.end()        ? nullptr
                       : of->second.count(instance) == 0 ? nullptr
                                                         : &of->second.at(instance);
      if (old == nullptr) {
        out += fmt::format("{} {}: new\n", instance, architecture);
        continue;
      }
      for (const auto& [quantity, now] : entry.allowed) {
        const int64_t was = old->allowed.at(quantity);
        if (was == now) continue;
        out += fmt::format("{} {}: {} {} -> {}\n", instance, architecture, text_of(quantity), was,
                           now);
      }
      if (old->code_hash != entry.code_hash) {
        out += fmt::format("{} {}: code {:.12} -> {:.12}\n", instance, architecture, old->code_hash,
                           entry.code_hash);
      }
    }
  }
  for (const auto& [architecture, entries] : before.entries) {
    for (const auto& [instance, entry] : entries) {
      if (after.entries.at(architecture).count(instance) == 0) {
        out += fmt::format("{} {}: gone\n", instance, architecture);
      }
    }
  }
  return out.empty() ? "nothing changed\n" : out;
}

ExitCode update(const BudgetArguments& arguments, const BudgetRun& run) {
  if (!run.breaches.empty()) throw perf::ReportError(text_of(run.breaches.front()));
  perf::BudgetTable before;
  if (std::filesystem::exists(arguments.table)) before = perf::read_budgets(arguments.table);
  const perf::BudgetTable after = perf::updated(before, run.toolchain, run.kernels);
  std::optional<ReplacingFile> file;
  open_output("--table", arguments.table, {}, file);
  write(file, perf::to_json(after));
  fmt::print("{}", changes(before, after));
  for (const auto& [kernel, reasons] : after.reasons) {
    for (const auto& [quantity, reason] : reasons) {
      if (!reason.empty()) continue;
      fmt::print("reasons.{}.{}: is empty: say why it is allowed\n", kernel, text_of(quantity));
    }
  }
  return kVerified;
}

ExitCode judge(const BudgetArguments& arguments, BudgetRun run) {
  std::optional<ReplacingFile> json;
  open_output("--json", arguments.json, {}, json);
  const auto device = choose_device(arguments.device);
  std::string on;
  if (device->kind() != DeviceKind::kHost) {
    on = device->description();
    const auto found = perf::disagreements(shipped_catalog(), run.kernels, *device);
    run.breaches.insert(run.breaches.end(), found.begin(), found.end());
  }
  const ExitCode code = run.breaches.empty() ? kVerified : kGateFailed;
  write(json, json_text(run, arguments, on, code));
  fmt::print("{}\n", kernel_rows(run));
  for (const perf::Breach& breach : run.breaches) {
    fmt::print("budget BREACH {}\n", text_of(breach));
  }
  if (run.table_toolchain != run.toolchain) {
    fmt::print("code: not compared, the table was made with {}\n", run.table_toolchain);
  }
  if (!run.has_instructions()) {
    fmt::print("instructions: not checked, no disassembly (CMake: PLANEGATE_NVDISASM)\n");
  }
  fmt::print("device: {}\n",
             on.empty() ? "not compared, there is none (--device cuda demands one)" : on);
  fmt::print("{} kernels, {} breaches ({})\n", run.kernels.size(), run.breaches.size(),
             run.toolchain);
  return code;
}

}  // namespace

ExitCode budget(const BudgetArguments& arguments) {
  try {
    const Catalog& catalog = shipped_catalog();
    const BudgetRun run =
        arguments.update
            ? perf::kernels_of_this_program(catalog, arguments.reports)
            : perf::budget_of_this_program(catalog, arguments.reports, arguments.table);
    if (run.kernels.empty()) {
      throw CommandError(kNothingVerified, "built without a CUDA compiler: no kernels to judge");
    }
    return arguments.update ? update(arguments, run) : judge(arguments, run);
  } catch (const perf::ReportError& error) {
    throw CommandError(kBadInput, error.what());
  }
}

}  // namespace planegate::cli
