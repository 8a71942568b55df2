#include "cli/mutants_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/table.h"

namespace planegate::cli {
namespace {

using Json = nlohmann::ordered_json;
using gates::Judged;

bool is_fault(const MutantRow& row) {
  return !row.result.arm->equivalent && row.result.outcome != gates::Outcome::kNotRun;
}

/// `412 of 640 (64 %), 12 stopped`
std::string share(const std::vector<MutantRow>& rows, size_t judge,
                  std::vector<Judged> gates::JudgedArm::*where) {
  int64_t run = 0, rejected = 0, stopped = 0;
  for (const MutantRow& row : rows) {
    if (!is_fault(row) || !row.judged) continue;
    const Judged judged = ((*row.judged).*where)[judge];
    if (judged == Judged::kNotRun) continue;
    ++run;
    if (judged == Judged::kRejects) ++rejected;
    if (judged == Judged::kStopped) ++stopped;
  }
  if (run == 0) return "not run";
  const auto percent = 100.0 * static_cast<double>(rejected) / static_cast<double>(run);
  std::string out = fmt::format("{} of {} ({:.1f} %)", rejected, run, percent);
  return stopped == 0 ? out : out + fmt::format(", {} stopped", stopped);
}

const char* member(Judged judged) {
  switch (judged) {
    case Judged::kAccepts:
      return "accepts";
    case Judged::kRejects:
      return "rejects";
    case Judged::kStopped:
      return "stopped";
    case Judged::kNotRun:
      return "not run";
  }
  return "?";
}

Json verdict_json(const gates::Verdicts& verdicts) {
  Json json = {{"mirror", text(verdicts.mirror)},
               {"readback", text(verdicts.readback)},
               {"parity", text(verdicts.parity)},
               {"chain", text(verdicts.chain)}};
  if (verdicts.dispatch) json["dispatch"] = text(*verdicts.dispatch);
  return json;
}

Json row_json(const MutantRow& row) {
  const gates::Arm& arm = *row.result.arm;
  Json json = {{"name", arm.name},
               {"class", arm.bug_class},
               {"plane", arm.plane},
               {"consumer", arm.consumer},
               {"shape", {{"od", arm.shape.od()}, {"id", arm.shape.id()}, {"nt", arm.shape.nt()}}},
               {"outcome", text(row.result.outcome)},
               {"verdicts", verdict_json(row.result.have)},
               {"expected", verdict_json(arm.expected)},
               {"gate", row.result.gate},
               {"told", row.result.told},
               {"must_name", row.result.must_name},
               {"seconds", row.result.seconds}};
  if (!arm.one_of.empty()) json["one_of"] = arm.one_of;
  if (!row.judged) return json;
  for (size_t i = 0; i < gates::incumbents().size(); ++i) {
    json["judges"].push_back({{"project", gates::incumbents()[i].project},
                              {"own", member(row.judged->own[i])},
                              {"ours", member(row.judged->ours[i])}});
  }
  return json;
}

}  // namespace

std::string marks(const std::vector<Judged>& judged) {
  std::string out;
  for (const Judged one : judged) out += static_cast<char>(one);
  return out;
}

std::string mutants_table(const std::vector<MutantRow>& rows) {
  std::string out = "outcome     mirror readback parity chain [dispatch]\n";
  for (const MutantRow& row : rows) {
    const gates::ArmResult& result = row.result;
    out += fmt::format("{:<10}  {:<28}", text(result.outcome), result.have.text());
    if (row.judged) {
      out += fmt::format("  {} {}", marks(row.judged->own), marks(row.judged->ours));
    }
    out += fmt::format("  {}  ({})\n", result.arm->name, result.arm->shape.text());
    if (!result.told.empty()) {
      out += fmt::format("            {}{}\n", result.gate.empty() ? "" : result.gate + ": ",
                         result.told);
    }
  }
  return out;
}

std::string mutants_misses(const std::vector<MutantRow>& rows) {
  std::string out;
  for (const MutantRow& row : rows) {
    const gates::ArmResult& result = row.result;
    if (result.as_expected()) continue;
    out +=
        fmt::format("{}  {}\n  verdicts {}, expected {}\n  told: {}\n  must name: {}\n",
                    text(result.outcome), result.arm->name, result.have.text(),
                    result.arm->expected.text(), result.told, fmt::join(result.must_name, " | "));
    for (const auto& spellings : result.arm->one_of) {
      out += fmt::format("  and one of: {}\n", fmt::join(spellings, " | "));
    }
  }
  return out.empty() ? "no misses\n" : out;
}

std::string judges_table(const std::vector<MutantRow>& rows, const gates::IncumbentBench& bench) {
  std::vector<std::vector<std::string>> cells = {
      {"judge", "of", "rejects at its shapes", "at ours", "its shapes run here"}};
  for (size_t i = 0; i < gates::incumbents().size(); ++i) {
    const gates::Judge& judge = gates::incumbents()[i];
    cells.push_back({judge.name, judge.project, share(rows, i, &gates::JudgedArm::own),
                     share(rows, i, &gates::JudgedArm::ours),
                     fmt::format("{} of {}", bench.shapes_of(judge).size(), judge.shapes.size())});
  }
  return "columns of the judges, in this order, at their shapes and at ours: x rejects, . accepts, "
         "! the run ended with an error, - not run\n\n" +
         table(cells);
}

std::string mutants_json(const std::string& device, const std::string& description,
                         const std::vector<MutantRow>& rows, int exit_code) {
  Json json = {{"schema", "planegate.mutants/1"},
               {"planegate", PLANEGATE_VERSION},
               {"device", {{"name", device}, {"description", description}}},
               {"exit_code", exit_code},
               {"arms", Json::array()}};
  for (const MutantRow& row : rows) json["arms"].push_back(row_json(row));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace planegate::cli
