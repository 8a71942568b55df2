#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <planegate/gguf/reader.h>
#include <planegate/gguf/replacing_file.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/json_report.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/sample_model.h"
#include "cli/table.h"
#include "gates/diagnosis.h"
#include "gates/verify.h"

namespace planegate::cli {
namespace {

namespace fs = std::filesystem;

/// A file name of its own in the temporary folder; the file is removed at the end.
class TemporaryModel {
 public:
  TemporaryModel() : path_(fs::temp_directory_path() / "planegate-XXXXXX.gguf") {
    std::string name = path_.string();
    const int fd = mkstemps(name.data(), 5);
    if (fd < 0) throw fs::filesystem_error("cannot make a sample model", path_, last_error());
    close(fd);
    path_ = name;
  }
  ~TemporaryModel() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryModel(const TemporaryModel&) = delete;
  TemporaryModel& operator=(const TemporaryModel&) = delete;

  const fs::path& path() const { return path_; }

 private:
  static std::error_code last_error() { return {errno, std::generic_category()}; }

  fs::path path_;
};

void require_known(const char* option, const std::vector<std::string>& wanted,
                   const std::vector<std::string>& known) {
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw CommandError(kWrongUse, fmt::format("{} {}: no such name; nearest: {}", option, name,
                                              fmt::join(nearest(name, known), ", ")));
  }
}

/// The selection by the names of the catalog; planes may be given as the table shows them
/// (`q6_K/w_exp`).
gates::Selection selection(const Catalog& catalog, const VerifyArguments& arguments) {
  std::vector<std::string> wanted = arguments.planes;
  std::vector<std::string> planes, consumers;
  for (const Contract* plane : catalog.planes()) {
    planes.push_back(plane->name);
    std::replace(wanted.begin(), wanted.end(), plane->format + "/" + plane->name, plane->name);
  }
  for (const ConsumerSpec& consumer : catalog.consumers()) consumers.push_back(consumer.name);
  require_known("--plane", wanted, planes);
  require_known("--consumer", arguments.consumers, consumers);
  return {std::move(wanted), arguments.consumers};
}

/// Fails before the work starts where the file could not be written after it.
void open_json(const VerifyArguments& arguments, std::optional<ReplacingFile>& file) {
  if (arguments.json.empty()) return;
  const fs::path target = output_file("--json", arguments.json, arguments.model);
  try {
    file.emplace(target);
  } catch (const fs::filesystem_error& error) {
    throw CommandError(kWrongUse,
                       fmt::format("--json {}: {}", arguments.json, error.code().message()));
  }
}

bool verifiable(const Catalog& catalog, const GgufTensor& tensor) {
  const FormatOracle* format = catalog.format(tensor.type->name);
  return format != nullptr && format->role == Role::kWeights;
}

/// `q6_K 5, f32 1`
std::string inventory(const GgufFile& model) {
  std::map<std::string, int> counts;
  for (const GgufTensor& tensor : model.tensors()) ++counts[tensor.type->name];
  std::string out;
  for (const auto& [type, count] : counts) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", type, count);
  }
  return out.empty() ? "no tensor" : out;
}

std::vector<const GgufTensor*> matching(const Catalog& catalog, const GgufFile& model,
                                        const std::string& glob) {
  std::vector<const GgufTensor*> found;
  for (const GgufTensor& tensor : model.tensors()) {
    const bool named = fnmatch(glob.c_str(), tensor.name.c_str(), 0) == 0;
    if (named && verifiable(catalog, tensor)) found.push_back(&tensor);
  }
  return found;
}

std::string names_of_verifiable(const Catalog& catalog, const GgufFile& model) {
  std::vector<std::string> names;
  for (const GgufTensor* tensor : matching(catalog, model, "*")) names.push_back(tensor->name);
  if (names.empty()) return "";
  const size_t shown = std::min<size_t>(names.size(), 8);
  const size_t more = names.size() - shown;
  names.resize(shown);
  return fmt::format("; to be verified would be: {}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

/// `planegate verify 'm.gguf' --tensor 't' --plane w_exp --device host --nt 70 --seed 1`
std::string repeat_command(const VerifyArguments& arguments, const Device& device,
                           const std::string& tensor, const std::string& selection) {
  return fmt::format("planegate verify{} --tensor '{}' {} --device {} --nt {} --seed {}",
                     arguments.model.empty() ? "" : " '" + arguments.model + "'", tensor, selection,
                     device.name(), arguments.nt, arguments.seed);
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

ExitCode exit_code(const std::vector<GateReport>& reports) {
  switch (overall(reports)) {
    case Verdict::kFail:
      return kGateFailed;
    case Verdict::kSkipped:
      return kNothingVerified;
    case Verdict::kPass:
      return kVerified;
  }
  return kNothingVerified;
}

std::string summary(const std::vector<GateReport>& reports, size_t tensors) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(reports.begin(), reports.end(),
                         [&](const GateReport& r) { return r.verdict == verdict; });
  };
  return fmt::format("{} tensor{}: {} gates passed, {} failed, {} skipped", tensors,
                     tensors == 1 ? "" : "s", count(Verdict::kPass), count(Verdict::kFail),
                     count(Verdict::kSkipped));
}

}  // namespace

ExitCode verify(const VerifyArguments& arguments) {
  const Catalog& catalog = shipped_catalog();
  const gates::Selection chosen = selection(catalog, arguments);
  std::optional<ReplacingFile> json;
  open_json(arguments, json);
  const auto device = choose_device(arguments.device);

  std::optional<TemporaryModel> temporary;
  fs::path path = arguments.model;
  if (arguments.model.empty()) {
    path = temporary.emplace().path();
    write_sample(catalog, path, "mini", 1);
    fmt::print("no model given: a sample ({})\n", sample_text("mini"));
  }
  const GgufFile model = GgufFile::open(path);
  const auto tensors = matching(catalog, model, arguments.tensor_glob);
  fmt::print("{}: {} of {} tensors to verify ({})\ndevice {}: {}\n\n",
             arguments.model.empty() ? "sample" : arguments.model, tensors.size(),
             model.tensors().size(), inventory(model), device->name(), device->description());
  if (tensors.empty()) {
    throw CommandError(
        kNothingVerified,
        fmt::format("nothing was verified: no tensor of a registered format matches "
                    "'{}'; the file holds {}{}",
                    arguments.tensor_glob, inventory(model), names_of_verifiable(catalog, model)));
  }

  gates::Context context{catalog, *device, arguments.seed,
                         [&](const std::string& tensor, const std::string& subject) {
                           return repeat_command(arguments, *device, tensor, subject);
                         }};
  std::vector<GateReport> reports;
  {
    Progress progress;
    for (const GgufTensor* tensor : tensors) {
      RawTensor raw = model.raw(*tensor);
      raw.shape = raw.shape.with_tokens(arguments.nt);
      const auto of_tensor = gates::verify_tensor(
          context, raw, chosen,
          [&](const GateReport& report) {
            progress.clear();
            if (report.verdict == Verdict::kFail) fmt::print("{}\n", text(report));
          },
          [&](const std::string& what) { progress.show(what); });
      progress.clear();
      print_diagnosis(catalog, of_tensor);
      reports.insert(reports.end(), of_tensor.begin(), of_tensor.end());
    }
  }
  fmt::print("{}\n{}\n", report_table(reports), summary(reports, tensors.size()));
  const ExitCode code = exit_code(reports);
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
