#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <planegate/devices/device.h>

#include "catalog/catalog.h"
#include "gates/dataset.h"
#include "gates/parity.h"
#include "gates/perf/timed_consumer.h"
#include "gates/verify.h"

/// What consumers take on this GPU, shape by shape, everything inside a launch included. Weights
/// rotate over copies, so that none is warm. Each figure stands behind a verified output: no number
/// where that is red.
namespace planegate {
namespace {

constexpr int64_t kRotatedBytes = int64_t{320} << 20;
constexpr int kSamples = 9;
constexpr double kSample_s = 3e-3;

struct Row {
  int64_t od, id;
  std::vector<int64_t> tokens;
};

const std::vector<Row> kRows = {{3584, 18944, {1, 8, 16, 64, 128, 256, 512, 2048, 4096}},
                                {4096, 14336, {128, 512, 2048, 4096}},
                                {512, 3584, {1, 16, 128, 512, 2048, 4096}},
                                {152064, 3584, {1, 512}}};

std::vector<std::string> consumers_for(int64_t nt) {
  if (nt == 1) return {"padded/decode", "padded/decode+w_dsc", "w_exp/f16"};
  if (nt <= 8) return {"padded/decode", "w_exp/f16"};
  if (nt <= 512) return {"w_exp/f16", "w_exp/f16_wide", "w_exp/cp_async+w_dsc"};
  return {"w_exp/f16", "w_exp/f16_wide"};
}

class Bench {
 public:
  Bench(Device& device, const Shape& shape)
      : context_{shipped_catalog(), device, 1}, format_(*context_.catalog.format("q6_K")) {
    weights_.resize(static_cast<size_t>(format_.size_bytes(shape)));
    format_.sample(shape, 1, weights_);
    const auto bytes = static_cast<int64_t>(weights_.size());
    const int64_t copies = std::clamp<int64_t>(kRotatedBytes / bytes + 1, 2, 8);
    for (int64_t i = 0; i < copies; ++i) {
      const FormatOracle& activations = context_.catalog.activations();
      const std::vector<float> x = gates::sample_activations(shape, context_.seed);
      datasets_.push_back(std::make_unique<gates::Dataset>(
          context_, "sample", RawTensor{"w", "q6_K", shape, weights_}, activations,
          activations.quantise({"x", "f32", shape, std::as_bytes(std::span(x))})));
    }
  }

  /// False where the output is wrong.
  bool measure(const ConsumerSpec& consumer) {
    const Shape& shape = datasets_.front()->shape();
    perf::TimedConsumer one(context_, consumer, {datasets_.front().get()}, 1);
    one.run();
    if (const std::string wrong = one.verify_again(); !wrong.empty()) {
      fmt::print("{}\n", wrong);
      return false;
    }
    std::vector<gates::Dataset*> all;
    for (const auto& dataset : datasets_) all.push_back(dataset.get());
    const double once = *one.run().kernel;
    const auto launches = static_cast<int64_t>(std::ceil(kSample_s / once));
    perf::TimedConsumer timed(context_, consumer, all, launches);
    timed.run();
    std::vector<double> seconds;
    for (int i = 0; i < kSamples; ++i) {
      seconds.push_back(*timed.run().kernel / static_cast<double>(launches));
    }
    std::nth_element(seconds.begin(), seconds.begin() + kSamples / 2, seconds.end());
    const double median = seconds[kSamples / 2];
    const double flops = 2.0 * static_cast<double>(shape.od() * shape.id() * shape.nt());
    const double encoded = static_cast<double>(shape.od() * shape.nsb() * 210);
    fmt::print("{:>6} x {:<6} nt {:<5} {:<22} {:9.1f} us {:7.1f} TFLOP/s {:8.1f} GB/s encoded\n",
               shape.od(), shape.id(), shape.nt(), consumer.name, median * 1e6,
               flops / median * 1e-12, encoded / median * 1e-9);
    std::fflush(stdout);
    return true;
  }

 private:
  gates::Context context_;
  const FormatOracle& format_;
  std::vector<std::byte> weights_;
  std::vector<std::unique_ptr<gates::Dataset>> datasets_;
};

int run(const std::string& only) {
  std::string why_not;
  const auto device = make_cuda_device(why_not);
  if (device == nullptr) throw DeviceError(why_not);
  fmt::print("{}\n", device->description());
  bool right = true;
  for (const Row& row : kRows) {
    for (const int64_t nt : row.tokens) {
      if (!only.empty() && fmt::format("{}x{}x{}", row.od, row.id, nt).find(only) != 0) continue;
      Bench bench(*device, Shape(row.od, row.id, nt));
      for (const std::string& name : consumers_for(nt)) {
        right = bench.measure(*shipped_catalog().consumer(name)) && right;
      }
    }
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace planegate

int main(int argc, char** argv) {
  try {
    return planegate::run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "consumer_bench: {}\n", error.what());
    return 4;
  }
}
