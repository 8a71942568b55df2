#include "gates/kill_matrix.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <planegate/core/errors.h>

#include "gates/verify.h"

namespace planegate::gates {
namespace {

constexpr const char* kTensor = "sample.weight";
constexpr uint64_t kSeed = 1;

const ConsumerSpec& consumer_of(const Catalog& catalog, const Arm& arm) {
  const ConsumerSpec* consumer = catalog.consumer(arm.consumer);
  if (consumer == nullptr) throw ContractError("arm", arm.name, "a registered consumer");
  return *consumer;
}

std::unique_ptr<Device> device_for(const Arm& arm, DeviceKind kind, std::string& why_not) {
  if (arm.device) return arm.device(kind, why_not);
  return kind == DeviceKind::kHost ? make_host_device() : make_cuda_device(why_not);
}

std::vector<GateReport> reports_of(const Catalog& catalog, const Arm& arm, Device& device) {
  const FormatOracle& format = *catalog.format(consumer_of(catalog, arm).format);
  std::vector<std::byte> bytes(static_cast<size_t>(format.size_bytes(arm.shape)));
  format.sample(arm.shape, kSeed, bytes);
  const RawTensor raw{kTensor, format.format, arm.shape, bytes};
  Context context{catalog, device, kSeed};
  Selection selection{{}, {arm.consumer}};
  selection.dispatch = arm.expected.dispatch.has_value();
  selection.switches = arm.switches;
  return verify_tensor(context, raw, selection);
}

/// What a reader of the report sees first, in one line.
std::string told_by(const GateReport& report) {
  const std::string& first = report.difference.first;
  return first.empty() ? report.diagnosis : report.diagnosis + " [" + first + "]";
}

class Judge {
 public:
  Judge(const Arm& arm, DeviceKind kind, const std::vector<GateReport>& reports)
      : arm_(arm), words_(arm.words_on(kind)) {
    for (const GateReport& report : reports) take(report);
  }

  void fill(ArmResult& result) const {
    result.have = have_;
    result.gate = red_ == nullptr ? "" : red_->gate;
    result.told = elsewhere_ != nullptr ? elsewhere_->headline() + ": " + told_by(*elsewhere_)
                  : red_ != nullptr     ? told_by(*red_)
                                        : "";
    result.outcome = outcome();
  }

 private:
  void take(const GateReport& report) {
    const bool of_plane = report.subject.ends_with("/" + arm_.plane);
    const bool of_consumer = report.subject == arm_.consumer;
    bool ours = true;
    if (report.gate == "mirror" && of_plane) {
      have_.mirror = report.verdict;
    } else if ((report.gate == "readback" || report.gate == "made") && of_plane) {
      if (have_.readback == Verdict::kPass) have_.readback = report.verdict;
    } else if (report.gate == "parity" && of_consumer) {
      have_.parity = report.verdict;
    } else if (report.gate == "chain" && of_consumer) {
      have_.chain = report.verdict;
    } else if (report.gate == "dispatch") {
      have_.dispatch = report.verdict;
    } else {
      ours = false;
    }
    if (report.verdict != Verdict::kFail) return;
    if (ours && red_ == nullptr) red_ = &report;
    if (!ours && elsewhere_ == nullptr) elsewhere_ = &report;
  }

  bool named() const {
    const std::string whole = text(*red_);
    const auto said = [&](const std::string& word) {
      return whole.find(word) != std::string::npos;
    };
    return std::all_of(words_.begin(), words_.end(), said) &&
           std::all_of(arm_.one_of.begin(), arm_.one_of.end(), [&](const auto& spellings) {
             return std::any_of(spellings.begin(), spellings.end(), said);
           });
  }

  Outcome outcome() const {
    if (elsewhere_ != nullptr) return Outcome::kWrongGate;
    if (arm_.equivalent) return red_ == nullptr ? Outcome::kEquivalent : Outcome::kWrongGate;
    if (red_ == nullptr) return Outcome::kSurvived;
    if (have_ != arm_.expected) return Outcome::kWrongGate;
    return named() ? Outcome::kKilled : Outcome::kMisnamed;
  }

  const Arm& arm_;
  const std::vector<std::string>& words_;
  Verdicts have_;
  const GateReport* red_ = nullptr;
  const GateReport* elsewhere_ = nullptr;
};

}  // namespace

std::string Verdicts::text() const {
  std::string line = fmt::format("{} {} {} {}", planegate::text(mirror), planegate::text(readback),
                                 planegate::text(parity), planegate::text(chain));
  if (dispatch) line += fmt::format(" {}", planegate::text(*dispatch));
  return line;
}

const char* text(Outcome outcome) {
  switch (outcome) {
    case Outcome::kKilled:
      return "killed";
    case Outcome::kSurvived:
      return "SURVIVED";
    case Outcome::kWrongGate:
      return "WRONG GATE";
    case Outcome::kMisnamed:
      return "MISNAMED";
    case Outcome::kEquivalent:
      return "equivalent";
    case Outcome::kHidden:
      return "hidden";
    case Outcome::kNotRun:
      return "not run";
  }
  return "?";
}

bool ArmResult::as_expected() const {
  if (device_lost) return false;
  return outcome == Outcome::kKilled || outcome == Outcome::kEquivalent ||
         outcome == Outcome::kHidden || outcome == Outcome::kNotRun;
}

ArmResult run_arm(const Catalog& clean, const Arm& arm, DeviceKind kind) {
  const auto begun = std::chrono::steady_clock::now();
  ArmResult result{&arm, Outcome::kNotRun, {}, {}, {}, 0, arm.words_on(kind)};
  Catalog catalog = clean;
  if (arm.plant) arm.plant(catalog);
  const std::unique_ptr<Device> device = device_for(arm, kind, result.told);
  if (device == nullptr) return result;
  if (const auto nowhere = device->refusal(consumer_of(catalog, arm))) {
    result.told = *nowhere;
    return result;
  }
  const std::vector<GateReport> reports = reports_of(catalog, arm, *device);
  Judge(arm, kind, reports).fill(result);
  result.device_lost = device_lost(reports);
  if (kind == DeviceKind::kCuda && result.outcome == Outcome::kSurvived &&
      !arm.may_survive_on_cuda.empty()) {
    result.outcome = Outcome::kHidden;
    result.told = arm.may_survive_on_cuda;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return result;
}

void Score::add(const ArmResult& result) {
  switch (result.outcome) {
    case Outcome::kKilled:
      ++killed;
      break;
    case Outcome::kSurvived:
      ++survived;
      break;
    case Outcome::kWrongGate:
      ++wrong_gate;
      break;
    case Outcome::kMisnamed:
      ++misnamed;
      break;
    case Outcome::kEquivalent:
      ++equivalent;
      break;
    case Outcome::kHidden:
      ++hidden;
      break;
    case Outcome::kNotRun:
      ++not_run;
      break;
  }
}

std::string Score::text() const {
  const int64_t all = killed + survived + wrong_gate + misnamed + equivalent + hidden + not_run;
  std::string line = fmt::format(
      "{} arms: {} killed, {} equivalent, {} survived, {} by the wrong gate, {} misnamed", all,
      killed, equivalent, survived, wrong_gate, misnamed);
  if (hidden > 0) line += fmt::format(", {} hidden", hidden);
  if (not_run > 0) line += fmt::format(", {} not run", not_run);
  return line;
}

}  // namespace planegate::gates
