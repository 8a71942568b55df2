#include "cli/ab_consumers.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "catalog/catalog.h"
#include "cli/choose_device.h"
#include "cli/input_content.h"
#include "cli/model_shapes.h"
#include "cli/named_consumers.h"
#include "cli/progress.h"
#include "gates/parity.h"
#include "gates/perf/timed_consumer.h"
#include "gates/perf/token.h"
#include "gates/perf/utc.h"

namespace planegate::cli {
namespace {

/// Weights of one shape are rotated over as many bytes, several times what caches hold.
constexpr int64_t kRotatedBytes = int64_t{256} << 20;
constexpr int64_t kMostCopies = 8;
/// A sample of one shape takes at least this long on a GPU.
constexpr double kLeastSample_s = 2e-3;
constexpr int64_t kMostLaunches = 1000;

perf::Token token_of(const std::string& path) {
  if (path.empty()) {
    throw CommandError(kNothingVerified,
                       "no token: --token FILE, as planegate token writes it, is missing");
  }
  return perf::token_from_json(input_content("no token: --token", path, kNothingVerified));
}

/// The tensors of an A/B run, each with its planes on the device.
class Tensors {
 public:
  Tensors(gates::Context& context, const std::string& format, const AbArguments& a)
      : context_(context) {
    if (a.model.empty()) {
      make_copies(format, shape_of(*a.od, *a.id, *a.nt));
    } else {
      model_ = GgufModel::open(a.model);
      for (const ModelTensor* tensor : gemm_tensors(context.catalog, *model_)) {
        RawTensor raw = tensor->raw();
        raw.shape = raw.shape.with_tokens(*a.nt);
        add(raw);
      }
    }
  }

  std::vector<gates::Dataset*> datasets() const {
    std::vector<gates::Dataset*> all;
    for (const auto& dataset : datasets_) all.push_back(dataset.get());
    return all;
  }
  /// Their shapes, each once.
  std::vector<Shape> shapes() const {
    std::vector<Shape> shapes;
    for (const auto& dataset : datasets_) {
      if (std::find(shapes.begin(), shapes.end(), dataset->shape()) == shapes.end()) {
        shapes.push_back(dataset->shape());
      }
    }
    return shapes;
  }
  bool is_model() const { return model_.has_value(); }
  int64_t size() const { return std::ssize(datasets_); }

 private:
  void make_copies(const std::string& format, const Shape& shape) {
    const FormatOracle& oracle = *context_.catalog.format(format);
    weights_.resize(static_cast<size_t>(oracle.size_bytes(shape)));
    oracle.sample(shape, context_.seed, weights_);
    const bool host = context_.device.kind() == DeviceKind::kHost;
    const int64_t bytes = std::ssize(weights_);
    const int64_t copies =
        host ? 1 : std::clamp<int64_t>((kRotatedBytes + bytes - 1) / bytes, 1, kMostCopies);
    for (int64_t i = 0; i < copies; ++i) add({"sample", format, shape, weights_});
  }
  void add(const RawTensor& raw) {
    const FormatOracle& activations = context_.catalog.activations();
    const std::vector<float> x = gates::sample_activations(raw.shape, context_.seed);
    datasets_.push_back(std::make_unique<gates::Dataset>(
        context_, "file", raw, activations,
        activations.quantise({"x", "f32", raw.shape, std::as_bytes(std::span(x))})));
  }

  gates::Context& context_;
  std::optional<GgufModel> model_;
  std::vector<std::byte> weights_;
  std::vector<std::unique_ptr<gates::Dataset>> datasets_;
};

/// All lattices of one small shape, on the device that will be timed.
void require_lattice(gates::Context& context, const ConsumerSpec& consumer) {
  Shape shape(70, 512, 70);
  while (consumer.refusal(shape) && shape.nt() > 1) shape = shape.with_tokens(shape.nt() / 2);
  const FormatOracle& format = *context.catalog.format(consumer.format);
  for (const gates::Lattice& lattice : gates::lattices(shape)) {
    gates::Dataset dataset =
        gates::make_dataset(context, shape, lattice, format, context.catalog.activations());
    const GateReport report = gates::lattice(context, consumer, dataset);
    if (report.verdict != Verdict::kPass) throw perf::Refused("no number: " + text(report));
  }
}

/// How many launches make a sample long enough, for both alike.
int64_t launches_for(perf::TimedConsumer& a, perf::TimedConsumer& b) {
  double fastest = kLeastSample_s;
  for (perf::TimedConsumer* one : {&a, &b}) {
    one->run();
    const perf::Sample sample = one->run();
    fastest = std::min(fastest, sample.kernel.value_or(kLeastSample_s));
  }
  return std::clamp<int64_t>(std::llround(std::ceil(kLeastSample_s / fastest)), 1, kMostLaunches);
}

std::string tensors_text(const Tensors& tensors, const AbArguments& a) {
  if (!tensors.is_model()) {
    const std::string shape = tensors.shapes().front().text();
    if (tensors.size() == 1) return shape;
    return fmt::format("{}, weights rotated over {} copies", shape, tensors.size());
  }
  return fmt::format("replay of {}: {} GEMMs in order, nt={}", a.model, tensors.size(), *a.nt);
}

/// A slowdown made up on purpose is never taken for one that was found.
std::string workload_text(const Tensors& tensors, const AbArguments& a) {
  std::string text = tensors_text(tensors, a);
  if (a.planted_launches > 0)
    text += fmt::format(", b with {} % more launches PLANTED", a.planted_launches);
  return text;
}

/// @throws Refused, and what the devices throw.
AbReport measured(const AbArguments& a, const OnToken& on_token) {
  const Catalog& catalog = shipped_catalog();
  const auto consumers = named_consumers(catalog, "--a or --b", {a.a, a.b});
  const perf::Token token = token_of(a.token);
  const auto device = choose_device(a.device);
  gates::Context context{catalog, *device, a.seed};
  const Tensors tensors(context, consumers.front()->format, a);
  perf::Use use{perf::provenance_of(*device), {}, {a.a, a.b}, perf::utc_now()};
  for (const Shape& shape : tensors.shapes()) use.shapes.push_back(shape.text());
  require_good(token, catalog, use);
  for (const ConsumerSpec* consumer : consumers) require_lattice(context, *consumer);
  on_token(token.digest());

  const auto timed = [&](size_t i, int64_t launches) {
    return std::make_unique<perf::TimedConsumer>(context, *consumers[i], tensors.datasets(),
                                                 launches);
  };
  auto first = timed(0, 1);
  auto second = timed(1, 1);
  const int64_t vram_delta =
      (second->device_bytes() - first->device_bytes()) / (tensors.is_model() ? 1 : tensors.size());
  const int64_t launches =
      std::max<int64_t>(a.planted_launches > 0 ? 100 : 1,
                        tensors.is_model() ? tensors.size() : launches_for(*first, *second));
  first = timed(0, launches);
  second = timed(1, launches + a.planted_launches * launches / 100);
  Progress progress;
  perf::AbPlan plan;
  plan.a = [&] { return first->run(); };
  plan.b = [&] { return second->run(); };
  plan.quads = a.quads;
  plan.bar_percent = a.bar_percent;
  plan.seed = a.seed;
  plan.clock_hz = [&] { return device->clock_hz(); };
  plan.on_stage = [&](const std::string& what) { progress.show(what); };
  AbReport report;
  report.a = a.a;
  report.b = a.b;
  report.workload = workload_text(tensors, a);
  report.device = use.provenance.device;
  report.token = token.digest();
  report.gate = perf::kGateOfPlanegate;
  report.bar_percent = a.bar_percent;
  report.launches = tensors.is_model() ? 1 : launches;
  report.vram_delta_bytes = vram_delta;
  report.result = perf::measure(plan);
  progress.clear();
  for (perf::TimedConsumer* one : {first.get(), second.get()}) {
    if (const std::string wrong = one->verify_again(); !wrong.empty()) {
      throw perf::Refused("no number: " + wrong);
    }
  }
  return report;
}

}  // namespace

AbReport ab_of_consumers(const AbArguments& arguments, const OnToken& on_token) {
  try {
    return measured(arguments, on_token);
  } catch (const perf::Refused& refused) {
    throw CommandError(kNothingVerified, refused.what());
  }
}

}  // namespace planegate::cli
