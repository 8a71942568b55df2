#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace planegate {
class Catalog;
namespace gates {
struct Detectability;
}
}  // namespace planegate

namespace planegate::cli {

struct VerifyArguments {
  std::string model;  ///< empty: a sample model is made
  std::string tensor_glob = "*";
  std::vector<std::string> planes;
  std::vector<std::string> consumers;
  std::string device = "auto";
  std::optional<int64_t> nt;     ///< empty: as many as each consumer takes, up to 70
  bool addresses = false;        ///< recover addresses of large tensors too
  std::vector<std::string> use;  ///< `PLANE=on|off`, for Dispatch
  uint64_t seed = 1;
  std::string json;
};

struct DemoArguments {
  std::string device = "auto";
};

struct SampleArguments {
  std::string path;
  std::string like = "mini";
  uint64_t seed = 1;
};

struct ExplainArguments {
  std::string plane;
  int64_t od = 0;
  int64_t id = 0;
  int64_t nt = 70;
  std::string beside;  ///< empty: the plane alone
};

struct DetectArguments {
  int64_t od = 0;
  int64_t id = 0;
  int64_t nt = 0;
  std::string consumer;  ///< empty: each that takes the shape
  std::string device = "auto";
  uint64_t seed = 1;
};

struct FuzzArguments {
  std::optional<int64_t> cases;  ///< neither: 200 cases
  std::optional<double> seconds;
  uint64_t seed = 1;
  std::string device = "auto";
  std::vector<std::string> consumers;  ///< empty: all
  int64_t max_od = 257;
  int64_t max_nsb = 74;
  int64_t max_nt = 256;
  std::optional<int64_t> threads;  ///< empty: as many as the machine has
  std::string out = ".";           ///< folder of the file of a red case
  bool known_bad = false;          ///< with consumers that are wrong on purpose
};

struct ReplayArguments {
  std::string path;
  std::string device = "auto";
};

struct MutantsArguments {
  std::string only;  ///< part of an arm's name; empty: all
  std::string device = "auto";
  bool judges = false;  ///< with the incumbents' judges
  std::string json;
  std::optional<int64_t> judge_arm;  ///< only what the judges say of this one, for judged_apart()
};

struct LedgerArguments {
  std::string path;
  bool markdown = false;
  bool waiting = false;  ///< only what waits, and for what
  std::string svg;       ///< empty: no plot
  bool add = false;      ///< append the entry of the members below
  std::string mechanism, a, b, device, workload, budget;
  std::string kernel, wall;  ///< `PERCENT,LOW,HIGH`; empty: not measured
  std::optional<double> bar_percent;
  std::optional<int64_t> vram_delta_bytes;
  int64_t pairs = 0;
  std::string comparison = "undecided";
  std::string verdict = "measured-only";
  std::string retry_when;
};

struct TokenArguments {
  std::string path;
  std::vector<std::string> consumers;
  std::optional<int64_t> od, id;
  int64_t nt = 0;
  std::string model;  ///< the shapes of its tensors instead of od and id
  int64_t cases = 200;
  uint64_t seed = 1;
  std::string device = "auto";
};

struct AbArguments {
  std::string a, b;  ///< consumers
  std::optional<int64_t> od, id, nt;
  std::string model;  ///< replay its GEMMs instead of od and id
  std::string device = "auto";
  std::string token;                  ///< file that `token` wrote
  std::string cmd_a, cmd_b, metric;   ///< two programs instead
  bool higher_is_better = false;      ///< of the metric
  std::string gate_cmd;               ///< must succeed before and after
  std::vector<std::string> binaries;  ///< whose content may not change meanwhile
  int64_t quads = 20;
  double bar_percent = 1.5;
  uint64_t seed = 1;
  std::string json;
  std::string ledger, mechanism, budget, retry_when;
  bool landed = false, reverted = false;
  int64_t planted_launches = 0;  ///< percent more of b: a slowdown of known size
};

struct AttributeArguments {
  std::string from, raw;             ///< the pages of one launch
  std::vector<std::string> against;  ///< none, or the pages of the variant after: source, raw
  double work = 1, against_work = 1;
  int64_t top = 20;      ///< instructions to list
  std::string consumer;  ///< profile this one instead
  std::optional<int64_t> od, id, nt;
  std::string ncu = "ncu";
  std::string kernel = "kernel_entry";
  bool one_launch = false;  ///< what the profiler runs
};

inline constexpr const char* kBudgetSchema = "planegate.budget/1";

struct BudgetArguments {
  std::string table = PLANEGATE_BUDGETS;
  std::string reports = PLANEGATE_KERNEL_REPORTS;
  std::string device = "auto";
  std::string json;
  bool update = false;
};

inline constexpr const char* kCensusSchema = "planegate.census/1";

struct CensusArguments {
  std::string model;
  std::string device = "auto";
  std::optional<int64_t> vram_bytes;  ///< empty: no plan
  int64_t nt = 70;                    ///< tokens of the launches that a plan is for
  std::string json;
};

/// Each prints to stdout and returns the exit status.
/// @throws CommandError, GgufError.
ExitCode verify(const VerifyArguments& arguments);
ExitCode list();
ExitCode demo(const DemoArguments& arguments);
ExitCode sample(const SampleArguments& arguments);
ExitCode explain(const ExplainArguments& arguments);
ExitCode detect(const DetectArguments& arguments);
ExitCode fuzz_cases(const FuzzArguments& arguments);
ExitCode replay(const ReplayArguments& arguments);
ExitCode mutants(const MutantsArguments& arguments);
ExitCode token(const TokenArguments& arguments);
ExitCode ab(const AbArguments& arguments);
ExitCode ledger(const LedgerArguments& arguments);
ExitCode attribute(const AttributeArguments& arguments);
ExitCode budget(const BudgetArguments& arguments);
ExitCode census(const CensusArguments& arguments);

/// What `explain` prints.
/// @throws CommandError(kWrongUse): unknown plane, planes of different roles, or a shape that does
///         not fit.
std::string explanation(const Catalog& catalog, const ExplainArguments& arguments);

/// What `detect` prints of one consumer.
std::string detect_text(const gates::Detectability& found);

}  // namespace planegate::cli
