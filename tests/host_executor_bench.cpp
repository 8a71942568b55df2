#include <benchmark/benchmark.h>
#include <omp.h>

#include <planegate/core/catalog.h>
#include <planegate/core/hash.h>
#include <planegate/devices/host_device.h>

#include "kernels/q6_k/consumers.h"

namespace planegate {
namespace {

/// Multiply-adds a second of a consumer on the host executor, all checks on: od*id*nt / time,
/// in total and per core. The planes hold arbitrary bytes; nothing is verified here.
void host_executor(benchmark::State& state, const char* name) {
  const Shape shape(3584, 512, 64);
  Catalog catalog;
  kernels::q6_k::register_consumers(catalog);
  const ConsumerSpec& consumer = *catalog.consumer(name);
  HostDevice device;
  std::vector<DeviceBuffer> buffers;
  buffers.reserve(8);
  LaunchRequest request{shape, {}, nullptr, nullptr};
  for (const FieldUse& use : consumer.reads) {
    std::vector<std::byte> bytes(static_cast<size_t>(use.plane->size_bytes(shape)));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(payload(1, i) & 0x3F);
    buffers.push_back(device.allocate(use.plane->name, static_cast<int64_t>(bytes.size())));
    device.upload(buffers.back(), bytes);
    request.planes.push_back({use.plane, &buffers.back(), 1});
  }
  buffers.push_back(device.allocate("y", shape.nt() * shape.od() * 4));
  request.y = &buffers.back();
  device.synchronise();
  for (auto _ : state) {
    consumer.launch_on(DeviceKind::kHost)(device, request);
    device.synchronise();
  }
  const double multiply_adds = static_cast<double>(shape.od() * shape.id() * shape.nt()) *
                               static_cast<double>(state.iterations());
  state.counters["MAC/s"] = benchmark::Counter(multiply_adds, benchmark::Counter::kIsRate);
  state.counters["MAC/s/core"] =
      benchmark::Counter(multiply_adds / omp_get_max_threads(), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(host_executor, w_exp_cp_async, "w_exp/cp_async")->UseRealTime()->MinTime(2);
BENCHMARK_CAPTURE(host_executor, w_exp_copy16, "w_exp/copy16")->UseRealTime();
BENCHMARK_CAPTURE(host_executor, w_exp_bytewise, "w_exp/bytewise")->UseRealTime();
BENCHMARK_CAPTURE(host_executor, raw_expand, "raw/expand")->UseRealTime();

}  // namespace
}  // namespace planegate

BENCHMARK_MAIN();
