#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "gates/diagnosis.h"
#include "gates/faults.h"
#include "gates/verify.h"

namespace planegate::cli {
namespace {

const Shape kShape(70, 512, 5);
constexpr const char* kTensor = "demo.weight";
constexpr const char* kControl = "raw/expand";
constexpr const char* kFault = "+padded_address";
constexpr gates::BitFlip kFlip{17923, 6};

constexpr const char* kStory =
    "The plane w_exp holds q6_K weights as dense int8: byte (j, k) at j*id + k, so rows lie id "
    "bytes\n"
    "apart and super-blocks 256. Three kernels read it with the strides of another plane, padded:\n"
    "j*(nsb*224) + sb*224 + e. No address leaves the plane and every byte there is a legal weight, "
    "so\n"
    "no memory checker objects; the plane's bytes are right, so no content check objects either.\n";

struct Setup {
  std::vector<std::byte> bytes;
  RawTensor weights;

  explicit Setup(const Catalog& catalog)
      : bytes(static_cast<size_t>(catalog.format("q6_K")->size_bytes(kShape))),
        weights{kTensor, "q6_K", kShape, bytes} {
    catalog.format("q6_K")->sample(kShape, 1, bytes);
  }
};

std::vector<GateReport> verify_one(const Catalog& catalog, Device& device, const RawTensor& weights,
                                   const std::vector<std::string>& consumers) {
  gates::Context context{catalog, device, 1, [](const std::string&, const std::string&) {
                           return std::string("planegate demo");
                         }};
  return gates::verify_tensor(context, weights, {{}, consumers});
}

const GateReport* find(const std::vector<GateReport>& reports, const std::string& gate,
                       const std::string& subject) {
  const auto found = std::find_if(reports.begin(), reports.end(), [&](const GateReport& r) {
    return r.gate == gate && r.subject == subject;
  });
  return found == reports.end() ? nullptr : &*found;
}

bool has(const GateReport* report, Verdict verdict) {
  return report != nullptr && report->verdict == verdict;
}

std::vector<std::string> padded_names(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    if (consumer.name.ends_with(kFault)) names.push_back(consumer.name);
  }
  return names;
}

/// The bug: content gates green, parity red in every variant that reads the plane, control green.
bool show_the_bug(const Catalog& catalog, const Setup& setup, Device& device) {
  fmt::print("{}\n", kStory);
  const std::vector<std::string> bad = padded_names(catalog);
  std::vector<std::string> consumers = {kControl};
  consumers.insert(consumers.end(), bad.begin(), bad.end());
  const auto reports = verify_one(catalog, device, setup.weights, consumers);
  fmt::print("{}\n", report_table(reports));

  bool as_expected = has(find(reports, "mirror", "q6_K/w_exp"), Verdict::kPass) &&
                     has(find(reports, "readback", "q6_K/w_exp"), Verdict::kPass) &&
                     has(find(reports, "parity", kControl), Verdict::kPass);
  std::vector<gates::VariantResult> results;
  for (const std::string& name : consumers) {
    results.push_back({catalog.consumer(name), find(reports, "parity", name)});
  }
  for (const std::string& name : bad) {
    as_expected = as_expected && has(find(reports, "parity", name), Verdict::kFail);
  }
  if (!as_expected) return false;
  fmt::print("{}\n", text(*find(reports, "parity", bad.front())));
  const auto groups = gates::diagnose(results);
  for (const gates::VariantGroup& group : groups) fmt::print("diagnosis: {}\n", group.text());
  return groups.size() == 1 && groups.front().consumers.size() == bad.size() &&
         groups.front().suspects.size() == 1;
}

/// One planted fault and the verdicts of mirror, readback, parity, chain that it must give.
struct Plant {
  std::string fault;
  Catalog catalog;
  std::unique_ptr<Device> device;
  std::string consumer;
  std::array<Verdict, 4> expected;
};

std::array<Verdict, 4> verdicts(const std::vector<GateReport>& reports,
                                const std::string& consumer) {
  const auto of = [&](const char* gate, const std::string& subject) {
    const GateReport* report = find(reports, gate, subject);
    return report == nullptr ? Verdict::kSkipped : report->verdict;
  };
  return {of("mirror", "q6_K/w_exp"), of("readback", "q6_K/w_exp"), of("parity", consumer),
          of("chain", consumer)};
}

Catalog with_flipping_producer(Catalog catalog) {
  catalog.replace(gates::flipping(*catalog.producer("w_exp"), kFlip));
  return catalog;
}

std::vector<Plant> plants(const Catalog& catalog, const std::string& device) {
  using enum Verdict;
  const std::string good = "w_exp/cp_async";
  const DeviceKind kind = choose_device(device)->kind();
  std::string why_not;
  std::vector<Plant> all;
  all.push_back({"none", catalog, choose_device(device), good, {kPass, kPass, kPass, kPass}});
  all.push_back({"one bit in the producer's output",
                 with_flipping_producer(catalog),
                 choose_device(device),
                 good,
                 {kFail, kPass, kPass, kSkipped}});
  all.push_back({"one bit in the device buffer",
                 catalog,
                 gates::make_flipping_device(kind, std::string(kTensor) + "/w_exp", kFlip, why_not),
                 good,
                 {kPass, kFail, kPass, kSkipped}});
  all.push_back({"padded strides in the consumer",
                 catalog,
                 choose_device(device),
                 good + kFault,
                 {kPass, kPass, kFail, kSkipped}});
  return all;
}

bool show_one_gate_each(const Catalog& catalog, const Setup& setup, const std::string& device) {
  fmt::print(
      "\nOne fault at a time, each stage on trusted input: every fault turns its own gate red\n"
      "and no other (chain, the run end to end, is skipped unless all are green).\n\n");
  std::vector<std::vector<std::string>> rows = {
      {"planted fault", "mirror", "readback", "parity", "chain", "as expected"}};
  bool all_as_expected = true;
  for (Plant& plant : plants(catalog, device)) {
    const auto found = verdicts(
        verify_one(plant.catalog, *plant.device, setup.weights, {plant.consumer}), plant.consumer);
    const bool as_expected = found == plant.expected;
    all_as_expected = all_as_expected && as_expected;
    rows.push_back({plant.fault, text(found[0]), text(found[1]), text(found[2]), text(found[3]),
                    as_expected ? "yes" : "NO"});
  }
  fmt::print("{}", table(rows));
  return all_as_expected;
}

}  // namespace

ExitCode demo(const DemoArguments& arguments) {
  const Catalog catalog = catalog_with_known_bad();
  const Setup setup(catalog);
  const auto device = choose_device(arguments.device);
  fmt::print("demo on {}: {}\n\n", device->name(), device->description());
  const bool bug_found = show_the_bug(catalog, setup, *device);
  const bool one_gate_each = show_one_gate_each(catalog, setup, arguments.device);
  fmt::print("\n{}\n", bug_found && one_gate_each
                           ? "Found, and each fault by its own gate."
                           : "NOT as expected: planegate did not find what was planted.");
  return bug_found && one_gate_each ? kVerified : kGateFailed;
}

}  // namespace planegate::cli
