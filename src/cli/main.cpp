#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <planegate/core/catalog.h>
#include <planegate/core/errors.h>
#include <planegate/devices/device.h>
#include <planegate/gguf/error.h>

#include "cli/ab_options.h"
#include "cli/attribute_options.h"
#include "cli/budget_options.h"
#include "cli/census_options.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/ledger_options.h"
#include "cli/sample_model.h"

namespace planegate::cli {
namespace {

constexpr const char* kDescription =
    "Proves that pre-transformed weight planes are right before anybody times the kernel that\n"
    "reads them: mirror (did the producer write the right bytes?), readback (do they stand on the\n"
    "device?), parity (does the consumer read the right byte for each weight?), and chain (all of\n"
    "it end to end).";

constexpr const char* kFooter =
    "Exit status: 0 all verified; 1 a gate failed; 2 wrong use; 3 missing, unreadable or "
    "malformed\n"
    "input; 4 nothing was verified, or refused.\n"
    "\n"
    "Examples:\n"
    "  planegate verify                                   a small sample model, made on the spot\n"
    "  planegate verify model.gguf --tensor '*ffn_down*'  some tensors of a model\n"
    "  planegate verify model.gguf --consumer w_exp/cp_async --device cuda\n"
    "  planegate explain w_exp --beside padded --od 70 --id 512\n"
    "  planegate demo                                     the bug that content checks cannot see";

constexpr int64_t kMaxTokens = int64_t{1} << 32;

void add_names(CLI::App& app, const std::string& option, std::vector<std::string>& names,
               const std::string& text) {
  // One name an option, so that `--plane w_exp model.gguf` leaves the model alone.
  app.add_option(option, names, text)->allow_extra_args(false);
}

void add_seed(CLI::App& app, uint64_t& seed, const std::string& text) {
  app.add_option("--seed", seed, text)->check(is_seed)->capture_default_str();
}

void add_device(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "auto (cuda where a GPU is present, else host), host, or cuda")
      ->check(CLI::IsMember({"auto", "host", "cuda"}))
      ->capture_default_str();
}

void add_verify(CLI::App& app, VerifyArguments& a) {
  app.add_option("MODEL", a.model, "GGUF file; without one a small sample model is made")
      ->check(not_empty);
  app.add_option("--tensor", a.tensor_glob, "only tensors whose name matches this glob")
      ->capture_default_str();
  add_names(app, "--plane", a.planes, "only this plane: mirror and readback (repeatable)");
  add_names(app, "--consumer", a.consumers,
            "only this consumer and the planes it reads (repeatable)");
  add_device(app, a.device);
  app.add_option("--nt", a.nt, "tokens; without it 70, or 8 or 1 for consumers that take no more")
      ->check(CLI::Range(int64_t{1}, kMaxTokens));
  app.add_option("--use", a.use,
                 "PLANE=on|off: which planes Dispatch may choose (also PLANEGATE_USE)");
  app.add_flag("--addresses", a.addresses,
               "recover the addresses that consumers read for large tensors as well (small ones "
               "and whatever is red always)");
  add_seed(app, a.seed, "of activations and synthetic payloads");
  app.add_option("--json", a.json, "write the reports to this file as well")->check(not_empty);
}

void add_explain(CLI::App& app, ExplainArguments& a) {
  app.add_option("PLANE", a.plane, "as list names it")->required()->check(not_empty);
  app.add_option("--od", a.od, "output dimension: rows of W")->required();
  app.add_option("--id", a.id, "input dimension: weights per row")->required();
  app.add_option("--nt", a.nt, "tokens")->capture_default_str();
  app.add_option("--beside", a.beside,
                 "compare with this plane, and show what its page strides read in PLANE")
      ->check(not_empty);
}

void add_detect(CLI::App& app, DetectArguments& a) {
  app.add_option("--od", a.od, "output dimension: rows of W")->required();
  app.add_option("--id", a.id, "input dimension: weights per row")->required();
  app.add_option("--nt", a.nt, "tokens")->required();
  app.add_option("--consumer", a.consumer, "only this one; without it each that takes the shape")
      ->check(not_empty);
  add_device(app, a.device);
  add_seed(app, a.seed, "of synthetic payloads and of the places of faults");
}

void add_fuzz(CLI::App& app, FuzzArguments& a) {
  const CLI::Range positive(int64_t{1}, kMaxTokens);
  auto* cases =
      app.add_option("--cases", a.cases, "a case is one shape with one consumer; without it 200")
          ->check(positive);
  app.add_option("--seconds", a.seconds, "run as many cases as this long allows")
      ->check(CLI::Range(0.001, 1e6))
      ->excludes(cases);
  add_seed(app, a.seed, "of shapes, payloads and knobs");
  add_device(app, a.device);
  add_names(app, "--consumer", a.consumers, "only this consumer (repeatable)");
  app.add_option("--max-od", a.max_od, "largest od of the sweep")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--max-nsb", a.max_nsb, "largest id / 256 of the sweep")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--max-nt", a.max_nt, "largest nt of the sweep")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--threads", a.threads, "workers, each with a device of its own; else all cores")
      ->check(CLI::Range(int64_t{1}, int64_t{256}));
  app.add_option("--out", a.out, "folder for the file of a red case")
      ->check(not_empty)
      ->capture_default_str();
  // An empty group hides it: for tests and demonstrations.
  app.add_flag("--known-bad", a.known_bad,
               "also consumers that are wrong on purpose, to see this command red");
}

void add_mutants(CLI::App& app, MutantsArguments& a) {
  app.add_option("--only", a.only, "only arms whose name holds this")->check(not_empty);
  app.add_flag("--judges", a.judges, "beside it what the judges of other projects' tests say");
  add_device(app, a.device);
  app.add_option("--json", a.json, "also write the matrix to this file")->check(not_empty);
  // An empty group hides it: the command calls itself with it.
  app.add_option("--judge-arm", a.judge_arm, "what the judges say of one arm")->group("");
}

/// CLI11 says of anything misspelt before the subcommand that no subcommand was given.
void require_known_subcommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || !app.get_subcommands().empty()) return;
  if (*argv[1] == '-') throw CommandError(kWrongUse, fmt::format("{}: no such option", argv[1]));
  std::vector<std::string> names;
  for (const CLI::App* known : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(known->get_name());
  }
  throw CommandError(kWrongUse, fmt::format("{}: no such subcommand; nearest: {}", argv[1],
                                            fmt::join(nearest(argv[1], names), ", ")));
}

ExitCode run(int argc, char** argv) {
  CLI::App app(kDescription, "planegate");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "planegate " PLANEGATE_VERSION);

  VerifyArguments verify_arguments;
  DemoArguments demo_arguments;
  SampleArguments sample_arguments;
  ExplainArguments explain_arguments;
  DetectArguments detect_arguments;
  FuzzArguments fuzz_arguments;
  ReplayArguments replay_arguments;
  MutantsArguments mutants_arguments;
  TokenArguments token_arguments;
  AbArguments ab_arguments;
  LedgerArguments ledger_arguments;
  AttributeArguments attribute_arguments;
  BudgetArguments budget_arguments;
  CensusArguments census_arguments;
  auto* verify_app = app.add_subcommand("verify", "send a model's tensors through all gates");
  add_verify(*verify_app, verify_arguments);
  auto* list_app = app.add_subcommand("list", "the planes, consumers and devices of this build");
  auto* sample_app = app.add_subcommand("sample", "write a synthetic GGUF model");
  sample_app->add_option("OUT", sample_arguments.path, "file to write")
      ->required()
      ->check(not_empty);
  sample_app
      ->add_option("--like", sample_arguments.like,
                   fmt::format("whose tensor names and shapes: {}", sample_names()))
      ->capture_default_str();
  add_seed(*sample_app, sample_arguments.seed, "of the weights");
  auto* explain_app = app.add_subcommand(
      "explain", "a plane's contract at one shape, alone or beside another plane");
  add_explain(*explain_app, explain_arguments);
  auto* detect_app = app.add_subcommand(
      "detect", "plant the smallest faults and say which part of parity sees each at one shape");
  add_detect(*detect_app, detect_arguments);
  auto* fuzz_app = app.add_subcommand(
      "fuzz", "generated shapes, data and knobs against every consumer; shrinks what is red");
  add_fuzz(*fuzz_app, fuzz_arguments);
  auto* replay_app = app.add_subcommand("replay", "run the case of a file that fuzz wrote again");
  replay_app->add_option("CASE.json", replay_arguments.path, "file that fuzz wrote")
      ->required()
      ->check(not_empty);
  add_device(*replay_app, replay_arguments.device);
  auto* mutants_app = app.add_subcommand(
      "mutants", "plant every fault of the corpus: which gate is red, and what it is called");
  add_mutants(*mutants_app, mutants_arguments);
  auto* token_app = app.add_subcommand(
      "token", "mint what opens ab: all gates and a sweep, green, of exactly this code");
  add_token(*token_app, token_arguments);
  auto* ab_app = app.add_subcommand(
      "ab", "two consumers or two programs in turns, with an interval and a verdict");
  add_ab(*ab_app, ab_arguments);
  auto* ledger_app = app.add_subcommand(
      "ledger", "what was tried for speed, with intervals, and what became of it");
  add_ledger(*ledger_app, ledger_arguments);
  auto* attribute_app = app.add_subcommand(
      "attribute", "what the warps of a launch wait for, from samples of the program counter");
  add_attribute(*attribute_app, attribute_arguments);
  auto* budget_app = app.add_subcommand(
      "budget", "registers, spills, occupancy and instructions of each kernel against its budget");
  add_budget(*budget_app, budget_arguments);
  auto* census_app = app.add_subcommand(
      "census", "the planes of a model: bytes, readers, gates, and which fit into memory");
  add_census(*census_app, census_arguments);
  auto* demo_app = app.add_subcommand("demo",
                                      "the bug that content checks cannot see, and how "
                                      "each gate turns red for its own fault only");
  add_device(*demo_app, demo_arguments.device);

  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("planegate: {}\nRun with --help for more information.\n", error.what());
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) require_known_subcommand(app, argc, argv);
    return app.exit(error) == 0 ? kVerified : kWrongUse;
  }
  if (verify_app->parsed()) return verify(verify_arguments);
  if (list_app->parsed()) return list();
  if (sample_app->parsed()) return sample(sample_arguments);
  if (explain_app->parsed()) return explain(explain_arguments);
  if (detect_app->parsed()) return detect(detect_arguments);
  if (fuzz_app->parsed()) return fuzz_cases(fuzz_arguments);
  if (replay_app->parsed()) return replay(replay_arguments);
  if (mutants_app->parsed()) return mutants(mutants_arguments);
  if (token_app->parsed()) return token(token_arguments);
  if (ab_app->parsed()) return ab(ab_arguments);
  if (ledger_app->parsed()) return ledger(ledger_arguments);
  if (attribute_app->parsed()) return attribute(attribute_arguments);
  if (budget_app->parsed()) return budget(budget_arguments);
  if (census_app->parsed()) return census(census_arguments);
  return demo(demo_arguments);
}

/// run(), each way to fail as its message and exit status.
int guarded_run(int argc, char** argv) {
  const auto say = [](const std::exception& error) {
    fmt::print(stderr, "planegate: {}\n", error.what());
  };
  try {
    return run(argc, argv);
  } catch (const CommandError& error) {
    say(error);
    return error.code();
  } catch (const GgufError& error) {
    say(error);
    return kBadInput;
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "planegate: {}: {}\n", error.path1().string(), error.code().message());
    return kWrongUse;
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) return say(error), kNothingVerified;
    fmt::print(stderr, "planegate: cannot write to stdout: {}\n", error.code().message());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "planegate: not enough memory for a tensor of this shape\n");
    return kNothingVerified;
  } catch (const std::exception& error) {
    say(error);
    return kNothingVerified;
  }
}

/// What was printed must have arrived: a result that nobody can read is none. Red stays red.
int with_output_written(int code) {
  if (code == kBadInput || std::fflush(stdout) == 0) return code;
  fmt::print(stderr, "planegate: cannot write to stdout: {}\n", std::strerror(errno));
  return code == kGateFailed ? code : kBadInput;
}

}  // namespace
}  // namespace planegate::cli

int main(int argc, char** argv) {
  using namespace planegate::cli;  // NOLINT
  return with_output_written(guarded_run(argc, argv));
}
