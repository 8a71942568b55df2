#include <fmt/format.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/commands.h"
#include "cli/input_content.h"
#include "fuzz/case_file.h"
#include "fuzz/run_case.h"

namespace planegate::cli {
namespace {

/// A case is small: more is another file.
constexpr size_t kMostBytes = size_t{1} << 20;

std::string content(const std::string& path) {
  std::string text = input_content("", path, kBadInput, kMostBytes + 1);
  if (text.size() > kMostBytes) {
    throw CommandError(kBadInput, fmt::format("{}: file: must be at most 1 MiB", path));
  }
  return text;
}

/// What is wrong with the file, as bad input.
template <class Make>
auto of_file(const std::string& path, Make make) {
  try {
    return make();
  } catch (const fuzz::CaseFileError& error) {
    throw CommandError(kBadInput, fmt::format("{}: {}", path, error.what()));
  } catch (const fuzz::UnknownKnob& error) {
    throw CommandError(kBadInput, fmt::format("{}: {}", path, error.what()));
  }
}

const ConsumerSpec& consumer_of(const Catalog& catalog, const fuzz::CaseFile& file) {
  std::vector<std::string> names;
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    names.push_back(consumer.name);
    if (consumer.name != file.consumer) continue;
    if (consumer.format != file.c.format) {
      throw fuzz::CaseFileError("format", fmt::format("{} reads {}, not '{}'", consumer.name,
                                                      consumer.format, file.c.format));
    }
    const auto broken = consumer.refusal(file.c.shape);
    if (!broken) return consumer;
    throw fuzz::CaseFileError("shape", fmt::format("{} needs {}", consumer.name, *broken));
  }
  throw fuzz::CaseFileError("consumer",
                            fmt::format("no consumer '{}'; nearest: {}", file.consumer,
                                        fmt::join(nearest(file.consumer, names), ", ")));
}

std::string verdict_line(const fuzz::CaseFile& file, const GateReport& report) {
  if (report.verdict != Verdict::kFail) {
    return fmt::format("{}: recorded as red in {} on {}, not red here", text(report.verdict),
                       file.part, file.device);
  }
  const fuzz::CaseFile now = fuzz::case_file(file.c, report);
  const bool same = now.part == file.part && now.diagnosis == file.diagnosis;
  return same ? "red, as recorded"
              : fmt::format("red, but not as recorded on {}: part {}: {}", file.device, file.part,
                            file.diagnosis);
}

}  // namespace

ExitCode replay(const ReplayArguments& arguments) {
  const std::string json = content(arguments.path);
  const Catalog catalog = catalog_with_known_bad();
  const fuzz::CaseFile file = of_file(arguments.path, [&] { return fuzz::from_json(json); });
  const ConsumerSpec* consumer =
      of_file(arguments.path, [&] { return &consumer_of(catalog, file); });
  const auto device = choose_device(arguments.device);
  fmt::print("device {}: {}\n{} {}\n\n", device->name(), device->description(), file.consumer,
             fuzz::text(file.c));
  GateReport report = of_file(
      arguments.path, [&] { return fuzz::explained_case(catalog, *device, file.c, *consumer); });
  report.repeat = fmt::format("planegate replay {} --device {}", arguments.path, device->name());
  fmt::print("{}\n{}\n", text(report), verdict_line(file, report));
  if (report.verdict == Verdict::kFail) return kGateFailed;
  return report.verdict == Verdict::kPass ? kVerified : kNothingVerified;
}

}  // namespace planegate::cli
