#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fnmatch.h>

#include <planegate/gguf/model.h>
#include <planegate/gguf/replacing_file.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/gate_times.h"
#include "cli/json_report.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/sample_model.h"
#include "cli/table.h"
#include "cli/temporary_model.h"
#include "cli/verify_plan.h"
#include "gates/diagnosis.h"

namespace planegate::cli {
namespace {

namespace fs = std::filesystem;

bool verifiable(const Catalog& catalog, const GgufTensor& tensor) {
  const FormatOracle* format = catalog.format(tensor.type->name);
  return format != nullptr && format->role == Role::kWeights;
}

/// `q6_K 5, f32 1`
std::string inventory(const GgufModel& model) {
  std::map<std::string, int> counts;
  for (const ModelTensor& tensor : model.tensors()) ++counts[tensor.entry->type->name];
  std::string out;
  for (const auto& [type, count] : counts) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", type, count);
  }
  return out.empty() ? "no tensor" : out;
}

std::vector<const ModelTensor*> matching(const Catalog& catalog, const GgufModel& model,
                                         const std::string& glob) {
  std::vector<const ModelTensor*> found;
  for (const ModelTensor& tensor : model.tensors()) {
    const bool named = fnmatch(glob.c_str(), tensor.name().c_str(), 0) == 0;
    if (named && verifiable(catalog, *tensor.entry)) found.push_back(&tensor);
  }
  return found;
}

std::string names_of_verifiable(const Catalog& catalog, const GgufModel& model) {
  std::vector<std::string> names;
  for (const ModelTensor* tensor : matching(catalog, model, "*")) names.push_back(tensor->name());
  if (names.empty()) return "";
  const size_t shown = std::min<size_t>(names.size(), 8);
  const size_t more = names.size() - shown;
  names.resize(shown);
  return fmt::format("; to be verified would be: {}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

/// `text` as one word of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A glob that matches `name` alone.
std::string literal_glob(const std::string& name) {
  std::string out;
  for (const char c : name) out += std::string(std::strchr("*?[\\", c) != nullptr ? "\\" : "") + c;
  return out;
}

/// `planegate verify 'm.gguf' --tensor 't' --plane w_exp --device host --nt 70 --seed 1`; of a
/// split model the part that holds the tensor.
std::string repeat_command(const VerifyArguments& arguments, const GgufModel& model,
                           const Device& device, int64_t nt, const std::string& tensor,
                           const std::string& selection) {
  const ModelTensor* found = model.tensor(tensor);
  const std::string& path = found == nullptr ? arguments.model : found->file->path();
  return fmt::format("planegate verify{} --tensor {} {} --device {} --nt {} --seed {}",
                     arguments.model.empty() ? "" : " " + quoted(path),
                     quoted(literal_glob(tensor)), selection, device.name(), nt, arguments.seed);
}

/// `m.gguf`, and of a split how many parts.
std::string model_text(const VerifyArguments& arguments, const GgufModel& model) {
  if (arguments.model.empty()) return "sample";
  const size_t parts = model.files().size();
  return arguments.model + (parts == 1 ? "" : fmt::format(" (all {} parts)", parts));
}

void print_diagnosis(const Catalog& catalog, const std::vector<GateReport>& reports) {
  std::vector<gates::VariantResult> results;
  for (const GateReport& report : reports) {
    if (report.gate == "parity") results.push_back({catalog.consumer(report.subject), &report});
  }
  if (results.size() < 2) return;
  for (const gates::VariantGroup& group : gates::diagnose(results)) {
    fmt::print("diagnosis of {}: {}\n\n", reports.front().tensor, group.text());
  }
}

std::string summary(const std::vector<GateReport>& reports, size_t tensors) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(reports.begin(), reports.end(),
                         [&](const GateReport& r) { return r.verdict == verdict; });
  };
  const auto refused = std::count_if(reports.begin(), reports.end(),
                                     [](const GateReport& report) { return report.refused; });
  return fmt::format("{} tensor{}: {} gates passed, {} failed, {} skipped{}", tensors,
                     tensors == 1 ? "" : "s", count(Verdict::kPass), count(Verdict::kFail),
                     count(Verdict::kSkipped),
                     refused == 0 ? ""
                                  : fmt::format(" ({} by consumers that do not take the shape or "
                                                "the device)",
                                                refused));
}

/// Opens the model of the arguments, or a sample that is made for this run.
GgufModel open_model(const Catalog& catalog, const VerifyArguments& arguments,
                     std::optional<TemporaryModel>& temporary) {
  if (!arguments.model.empty()) return GgufModel::open(arguments.model);
  temporary.emplace();
  write_sample(catalog, temporary->path(), "mini", 1);
  fmt::print("no model given: a sample ({})\n", sample_text("mini"));
  return GgufModel::open(temporary->path());
}

/// All passes of the plan over one tensor; failures are printed as they come.
std::vector<GateReport> verify_one(const Catalog& catalog, Device& device, const GgufModel& model,
                                   const VerifyArguments& arguments, const VerifyPlan& plan,
                                   const ModelTensor& tensor) {
  std::vector<GateReport> reports;
  Progress progress;
  RawTensor raw = tensor.raw();
  for (const VerifyPlan::Pass& pass : plan.passes(raw.shape)) {
    raw.shape = raw.shape.with_tokens(pass.nt);
    gates::Context context{
        catalog, device, arguments.seed, [&](const std::string& name, const std::string& subject) {
          return repeat_command(arguments, model, device, pass.nt, name, subject);
        }};
    const auto of_pass = gates::verify_tensor(
        context, raw, pass.selection,
        [&](const GateReport& report) {
          progress.clear();
          if (report.verdict == Verdict::kFail) fmt::print("{}\n", text(report));
        },
        [&](const std::string& what) { progress.show(what); });
    progress.clear();
    print_diagnosis(catalog, of_pass);
    reports.insert(reports.end(), of_pass.begin(), of_pass.end());
    if (device_lost(reports)) break;
  }
  return reports;
}

}  // namespace

ExitCode verify(const VerifyArguments& arguments) {
  const Catalog& catalog = shipped_catalog();
  const VerifyPlan plan(catalog, arguments);
  std::optional<ReplacingFile> json;
  open_output("--json", arguments.json, arguments.model, json);
  const auto device = choose_device(arguments.device);
  std::optional<TemporaryModel> temporary;
  const GgufModel model = open_model(catalog, arguments, temporary);
  require_no_part("--json", arguments.json, model);
  const auto tensors = matching(catalog, model, arguments.tensor_glob);
  fmt::print("{}: {} of {} tensors to verify ({})\ndevice {}: {}\n\n", model_text(arguments, model),
             tensors.size(), model.tensors().size(), inventory(model), device->name(),
             device->description());
  if (tensors.empty()) {
    throw CommandError(
        kNothingVerified,
        fmt::format("nothing was verified: no tensor of a registered weight format matches "
                    "'{}'; the file holds {}{}",
                    arguments.tensor_glob, inventory(model), names_of_verifiable(catalog, model)));
  }
  const auto begun = std::chrono::steady_clock::now();
  std::vector<GateReport> reports;
  size_t done = 0;
  while (done < tensors.size() && !device_lost(reports)) {
    const auto of_tensor = verify_one(catalog, *device, model, arguments, plan, *tensors[done++]);
    reports.insert(reports.end(), of_tensor.begin(), of_tensor.end());
  }
  fmt::print("{}\n", report_table(reports));
  if (const std::string notes = notes_of_passes(reports); !notes.empty()) {
    fmt::print("{}\n", notes);
  }
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begun;
  fmt::print("{}\n{}\n", gate_times(reports, whole.count()), summary(reports, done));
  if (done < tensors.size()) {
    fmt::print("the device was lost: {} of {} tensors were not verified\n", tensors.size() - done,
               tensors.size());
  }
  const ExitCode code = plan.exit_code(reports);
  if (json) {
    const std::string out = json_report({arguments.model, device->name(), device->description(),
                                         arguments.nt, arguments.seed, code},
                                        reports);
    json->append(std::as_bytes(std::span(out)));
    json->commit();
  }
  return code;
}

}  // namespace planegate::cli
