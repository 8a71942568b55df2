#include "gates/judged_arms.h"

#include <algorithm>
#include <optional>

#include <planegate/core/errors.h>
#include <planegate/store/dispatch.h>

#include "gates/consumer_run.h"

namespace planegate::gates {
namespace {

constexpr const char* kWeights = "sample.weight";
constexpr const char* kActivations = "x of sample.weight";

RawTensor f32_of(const Problem& problem, const Shape& shape) {
  return {kActivations, "f32", shape, std::as_bytes(std::span(problem.x))};
}

/// `shape`, or with fewer tokens, as the consumer takes it.
std::optional<Shape> taken(const ConsumerSpec& consumer, const Shape& shape) {
  for (int64_t nt = shape.nt(); nt > 0; nt /= 2) {
    if (!consumer.refusal(shape.with_tokens(nt))) return shape.with_tokens(nt);
  }
  return std::nullopt;
}

/// An arm's catalog and device, and its outputs by shape.
class Pipeline {
 public:
  Pipeline(const Catalog& clean, const Arm& arm, DeviceKind kind)
      : catalog_(clean), arm_(arm), device_(device_of(arm, kind)) {
    if (arm.plant) arm.plant(catalog_);
    consumer_ = catalog_.consumer(arm.consumer);
    if (consumer_ == nullptr) throw ContractError("arm", arm.name, "a registered consumer");
    runs_ = device_ != nullptr && !device_->refusal(*consumer_);
  }

  bool runs() const { return runs_; }
  const ConsumerSpec& consumer() const { return *consumer_; }

  /// Empty where the pipeline ended with an error.
  const std::vector<float>& y(const Problem& problem, const Shape& shape) {
    const auto [it, is_new] = outputs_.try_emplace(shape.text());
    if (is_new) it->second = run(problem, shape);
    return it->second;
  }

 private:
  static std::unique_ptr<Device> device_of(const Arm& arm, DeviceKind kind) {
    std::string why_not;
    if (arm.device) return arm.device(kind, why_not);
    return kind == DeviceKind::kHost ? make_host_device() : make_cuda_device(why_not);
  }

  std::vector<float> run(const Problem& problem, const Shape& shape) {
    Context context{catalog_, *device_, 1};
    try {
      PlaneStore store(*device_);
      const std::vector<const ConsumerSpec*> candidates = candidates_at(shape);
      for (const ConsumerSpec* candidate : candidates) {
        for (const FieldUse& use : candidate->reads) add(*use.plane, problem, shape, store);
      }
      const ConsumerSpec* runs =
          dispatched()
              ? dispatch(candidates, store, kWeights, kActivations, shape, arm_.switches).consumer
              : consumer_;
      if (runs == nullptr) return {};
      return gates::run(context, *runs, store, kWeights, kActivations, shape).y;
    } catch (const std::exception&) {
      return {};
    }
  }

  bool dispatched() const { return arm_.expected.dispatch.has_value(); }

  /// The arm's consumer, or all that Dispatch chooses from.
  std::vector<const ConsumerSpec*> candidates_at(const Shape& shape) const {
    if (!dispatched()) return {consumer_};
    return catalog_.preference(consumer_->format, shape);
  }

  void add(const Contract& plane, const Problem& problem, const Shape& shape, PlaneStore& store) {
    const bool of_weights = plane.role == Role::kWeights;
    const char* tensor = of_weights ? kWeights : kActivations;
    if (store.find(tensor, plane) != nullptr) return;
    const RawTensor source = of_weights
                                 ? RawTensor{kWeights, consumer_->format, shape, problem.weights}
                                 : f32_of(problem, shape);
    std::vector<std::byte> bytes(static_cast<size_t>(plane.size_bytes(shape)));
    catalog_.producer(plane.name)->write(source, bytes);
    store.add(tensor, plane, shape, bytes);
  }

  Catalog catalog_;
  const Arm& arm_;
  std::unique_ptr<Device> device_;
  const ConsumerSpec* consumer_ = nullptr;
  bool runs_ = false;
  std::map<std::string, std::vector<float>> outputs_;
};

}  // namespace

std::vector<Shape> IncumbentBench::shapes_of(const Judge& judge) const {
  std::vector<Shape> shapes;
  for (const Shape& shape : judge.shapes) {
    if (shape.od() * shape.id() * shape.nt() <= most_terms_) shapes.push_back(shape);
  }
  return shapes;
}

const Problem& IncumbentBench::problem(const FormatOracle& format, const Shape& shape) {
  const auto [it, is_new] = problems_.try_emplace(format.format + " " + shape.text());
  Problem& made = it->second;
  if (!is_new) return made;
  made.weights.resize(static_cast<size_t>(format.size_bytes(shape)));
  format.sample(shape, 1, made.weights);
  made.x = sample_activations(shape, 1);
  const FormatOracle& activations = clean_.activations();
  const std::vector<std::byte> encoded = activations.quantise(f32_of(made, shape));
  made.reference = oracle::gemm(format, {kWeights, format.format, shape, made.weights}, activations,
                                {kActivations, activations.format, shape, encoded}, Arithmetic{});
  return made;
}

JudgedArm IncumbentBench::judge(const Arm& arm) {
  Pipeline pipeline(clean_, arm, kind_);
  const auto at = [&](const Judge& judge, const std::vector<Shape>& shapes) {
    Judged judged = Judged::kNotRun;
    for (const Shape& wanted : shapes) {
      const auto shape = taken(pipeline.consumer(), wanted);
      if (!shape || !pipeline.runs()) continue;
      const Problem& inputs = problem(*clean_.format(pipeline.consumer().format), *shape);
      const std::vector<float>& y = pipeline.y(inputs, *shape);
      if (y.empty()) return Judged::kStopped;
      if (!judge.accepts(inputs.reference.y, y)) return Judged::kRejects;
      judged = Judged::kAccepts;
    }
    return judged;
  };
  JudgedArm result;
  for (const Judge& judge : incumbents()) {
    result.own.push_back(at(judge, shapes_of(judge)));
    result.ours.push_back(at(judge, {arm.shape}));
  }
  return result;
}

}  // namespace planegate::gates
