#include <cstdio>
#include <exception>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/devices/device.h>
#include <planegate/gguf/error.h>

#include "cli/commands.h"
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
    "  planegate demo                                     the bug that content checks cannot see";

constexpr int64_t kMaxTokens = int64_t{1} << 32;

void add_device(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "auto (cuda where a GPU is present, else host), host, or cuda")
      ->check(CLI::IsMember({"auto", "host", "cuda"}))
      ->capture_default_str();
}

void add_verify(CLI::App& app, VerifyArguments& a) {
  app.add_option("MODEL", a.model, "GGUF file; without one a small sample model is made");
  app.add_option("--tensor", a.tensor_glob, "only tensors whose name matches this glob")
      ->capture_default_str();
  app.add_option("--plane", a.planes, "only this plane: mirror and readback (repeatable)");
  app.add_option("--consumer", a.consumers,
                 "only this consumer and the planes it reads (repeatable)");
  add_device(app, a.device);
  app.add_option("--nt", a.nt, "tokens")
      ->check(CLI::Range(int64_t{1}, kMaxTokens))
      ->capture_default_str();
  app.add_option("--seed", a.seed, "of activations and synthetic payloads")->capture_default_str();
  app.add_option("--json", a.json, "write the reports to this file as well");
}

ExitCode run(int argc, char** argv) {
  CLI::App app(kDescription, "planegate");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "planegate " PLANEGATE_VERSION);

  VerifyArguments verify_arguments;
  DemoArguments demo_arguments;
  SampleArguments sample_arguments;
  auto* verify_app = app.add_subcommand("verify", "send a model's tensors through all gates");
  add_verify(*verify_app, verify_arguments);
  auto* list_app = app.add_subcommand("list", "the planes, consumers and devices of this build");
  auto* sample_app = app.add_subcommand("sample", "write a synthetic GGUF model");
  sample_app->add_option("OUT", sample_arguments.path, "file to write")->required();
  sample_app
      ->add_option("--like", sample_arguments.like,
                   fmt::format("whose tensor names and shapes: {}", sample_names()))
      ->capture_default_str();
  sample_app->add_option("--seed", sample_arguments.seed, "of the weights")->capture_default_str();
  auto* demo_app = app.add_subcommand("demo",
                                      "the bug that content checks cannot see, and how "
                                      "each gate turns red for its own fault only");
  add_device(*demo_app, demo_arguments.device);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kVerified : kWrongUse;
  }
  if (verify_app->parsed()) return verify(verify_arguments);
  if (list_app->parsed()) return list();
  if (sample_app->parsed()) return sample(sample_arguments);
  return demo(demo_arguments);
}

}  // namespace
}  // namespace planegate::cli

int main(int argc, char** argv) {
  using namespace planegate;  // NOLINT
  const auto say = [](const std::exception& error) {
    fmt::print(stderr, "planegate: {}\n", error.what());
  };
  try {
    return cli::run(argc, argv);
  } catch (const cli::CommandError& error) {
    say(error);
    return error.code();
  } catch (const GgufError& error) {
    say(error);
    return cli::kBadInput;
  } catch (const std::filesystem::filesystem_error& error) {
    say(error);
    return cli::kWrongUse;
  } catch (const std::exception& error) {
    say(error);
    return cli::kNothingVerified;
  }
}
