#include <cstring>

#include <benchmark/benchmark.h>

#include "catalog/catalog.h"
#include "gates/compare.h"
#include "gates/dataset.h"
#include "oracle/gemm.h"

/// How close the host side of the mirror gate comes to what memory gives. Ratios of one run count.
namespace planegate {
namespace {

const Shape kShape(3584, 3584, 1);

struct Plane {
  explicit Plane(const std::string& name) : producer(shipped_catalog().producer(name)) {
    const FormatOracle& format = *shipped_catalog().format(producer->from);
    raw.resize(static_cast<size_t>(format.size_bytes(kShape)));
    format.sample(kShape, 1, raw);
    bytes.resize(static_cast<size_t>(producer->plane->size_bytes(kShape)));
  }
  RawTensor tensor() const { return {"w", producer->from, kShape, raw}; }

  const ProducerSpec* producer;
  std::vector<std::byte> raw, bytes;
};

void count_bytes(benchmark::State& state, const Plane& plane) {
  state.SetBytesProcessed(state.iterations() * std::ssize(plane.bytes));
}

/// One core reads both planes.
void memory(benchmark::State& state) {
  const Plane plane("w_exp");
  const std::vector<std::byte> other = plane.bytes;
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::memcmp(plane.bytes.data(), other.data(), other.size()));
  }
  count_bytes(state, plane);
}

void comparison(benchmark::State& state) {
  const Plane plane("w_exp");
  const std::vector<std::byte> other = plane.bytes;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        gates::compare_bytes(*plane.producer->plane, kShape, plane.bytes, other).count);
  }
  count_bytes(state, plane);
}

void mirror(benchmark::State& state, const std::string& name) {
  Plane plane(name);
  const MirrorSpec& spec = shipped_catalog().mirror(*plane.producer->plane);
  for (auto _ : state) spec.write(plane.tensor(), plane.bytes);
  count_bytes(state, plane);
}

void producer(benchmark::State& state, const std::string& name) {
  Plane plane(name);
  for (auto _ : state) plane.producer->write(plane.tensor(), plane.bytes);
  count_bytes(state, plane);
}

/// Y* and its bounds at 64 tokens; items are multiply-adds.
void reference(benchmark::State& state) {
  const Plane plane("w_exp");
  const FormatOracle& weights = *shipped_catalog().format(plane.producer->from);
  const FormatOracle& activations = shipped_catalog().activations();
  const Shape shape = kShape.with_tokens(64);
  const std::vector<float> x = gates::sample_activations(shape, 1);
  const auto encoded = activations.quantise({"x", "f32", shape, std::as_bytes(std::span(x))});
  const RawTensor of_weights{"w", weights.format, shape, plane.raw};
  const RawTensor of_activations{"x", activations.format, shape, encoded};
  const Arithmetic arithmetic{16, 2, ""};
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        oracle::gemm(weights, of_weights, activations, of_activations, arithmetic).y[0]);
  }
  state.SetItemsProcessed(state.iterations() * shape.od() * shape.id() * shape.nt());
}

BENCHMARK(memory)->UseRealTime();
BENCHMARK(comparison)->UseRealTime();
BENCHMARK(reference)->UseRealTime();
BENCHMARK_CAPTURE(mirror, w_exp, "w_exp")->UseRealTime();
BENCHMARK_CAPTURE(mirror, w_dsc, "w_dsc")->UseRealTime();
BENCHMARK_CAPTURE(mirror, padded, "padded")->UseRealTime();
BENCHMARK_CAPTURE(producer, w_exp, "w_exp")->UseRealTime();
BENCHMARK_CAPTURE(producer, w_dsc, "w_dsc")->UseRealTime();
BENCHMARK_CAPTURE(producer, padded, "padded")->UseRealTime();

}  // namespace
}  // namespace planegate

BENCHMARK_MAIN();
