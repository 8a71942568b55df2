#include <benchmark/benchmark.h>
#include <omp.h>

#include <planegate/core/catalog.h>
#include <planegate/core/hash.h>
#include <planegate/devices/host_device.h>

#include "kernels/q6_k/consumers.h"

namespace planegate {
namespace {

/// A consumer with its planes on the host device. The planes hold arbitrary bytes; nothing is
/// verified here.
struct Bound {
  Bound(const char* name, const Shape& shape) : request{shape, {}, nullptr, nullptr} {
    kernels::q6_k::register_consumers(catalog);
    consumer = catalog.consumer(name);
    buffers.reserve(8);
    for (const FieldUse& use : consumer->reads) {
      std::vector<std::byte> bytes(static_cast<size_t>(use.plane->size_bytes(shape)));
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(payload(1, i) & 0x3F);
      buffers.push_back(device.allocate(use.plane->name, static_cast<int64_t>(bytes.size())));
      device.upload(buffers.back(), bytes);
      request.planes.push_back({use.plane, &buffers.back(), 1});
    }
    buffers.push_back(device.allocate("y", shape.nt() * shape.od() * 4));
    request.y = &buffers.back();
    device.synchronise();
  }

  void launch() {
    consumer->launch_on(DeviceKind::kHost)(device, request);
    device.synchronise();
  }

  HostDevice device;
  Catalog catalog;
  const ConsumerSpec* consumer = nullptr;
  std::vector<DeviceBuffer> buffers;
  LaunchRequest request;
};

/// Multiply-adds a second of a consumer on the host executor, all checks on: od*id*nt / time,
/// in total and per core.
void host_executor(benchmark::State& state, const char* name) {
  const Shape shape(3584, 512, 64);
  Bound bound(name, shape);
  for (auto _ : state) bound.launch();
  const double multiply_adds = static_cast<double>(shape.od() * shape.id() * shape.nt()) *
                               static_cast<double>(state.iterations());
  state.counters["MAC/s"] = benchmark::Counter(multiply_adds, benchmark::Counter::kIsRate);
  state.counters["MAC/s/core"] =
      benchmark::Counter(multiply_adds / omp_get_max_threads(), benchmark::Counter::kIsRate);
}

/// What one launch of one block costs, most of a sweep's launches: time and allocations alike.
void tiny_launch(benchmark::State& state, const char* name) {
  Bound bound(name, Shape(3, 512, 2));
  for (auto _ : state) bound.launch();
}

/// The same with fresh buffers, upload and read-back: a case of a sweep.
void tiny_case(benchmark::State& state, const char* name) {
  const Shape shape(3, 512, 2);
  Bound bound(name, shape);
  std::vector<std::byte> y(static_cast<size_t>(shape.nt() * shape.od() * 4));
  for (auto _ : state) {
    std::vector<DeviceBuffer> fresh;
    fresh.reserve(8);
    LaunchRequest request = bound.request;
    for (BoundPlane& plane : request.planes) {
      const std::vector<std::byte> bytes(static_cast<size_t>(plane.buffer->size_bytes()));
      fresh.push_back(bound.device.allocate("plane", plane.buffer->size_bytes()));
      bound.device.upload(fresh.back(), bytes);
      plane.buffer = &fresh.back();
    }
    fresh.push_back(bound.device.allocate("y", std::ssize(y)));
    request.y = &fresh.back();
    bound.consumer->launch_on(DeviceKind::kHost)(bound.device, request);
    bound.device.read_back(fresh.back(), y);
    bound.device.synchronise();
  }
}

BENCHMARK_CAPTURE(host_executor, w_exp_cp_async, "w_exp/cp_async")->UseRealTime()->MinTime(2);
BENCHMARK_CAPTURE(host_executor, w_exp_copy16, "w_exp/copy16")->UseRealTime();
BENCHMARK_CAPTURE(host_executor, w_exp_bytewise, "w_exp/bytewise")->UseRealTime();
BENCHMARK_CAPTURE(host_executor, raw_expand, "raw/expand")->UseRealTime();
BENCHMARK_CAPTURE(tiny_launch, w_exp_cp_async, "w_exp/cp_async")->UseRealTime();
BENCHMARK_CAPTURE(tiny_launch, padded_decode, "padded/decode")->UseRealTime();
BENCHMARK_CAPTURE(tiny_case, w_exp_cp_async, "w_exp/cp_async")->UseRealTime();

}  // namespace
}  // namespace planegate

BENCHMARK_MAIN();
