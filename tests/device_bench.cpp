#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include <planegate/core/hash.h>
#include <planegate/devices/cuda_device.h>

#include "catalog/catalog.h"
#include "gates/compare.h"
#include "gates/plane_gates.h"

/// What uploads and the readback gate cost beside the bare pinned copy of the same bytes: the w_exp
/// planes of a 7B model's q6_K tensors. What the device's own producers take beside a copy within
/// the device. Medians of one run; exit status 1 where a byte differs.
namespace planegate {
namespace {

constexpr int kRuns = 7;

/// Qwen2.5-7B, Q4_K_M: attn_v, ffn_down, output.
std::vector<Shape> tensors() {
  std::vector<Shape> shapes(14, Shape(512, 3584));
  shapes.insert(shapes.end(), 14, Shape(3584, 18944));
  shapes.emplace_back(152064, 3584);
  return shapes;
}

struct Plane {
  Shape shape;
  std::vector<std::byte> bytes;
  DeviceBuffer buffer;
};

std::vector<Plane> make_planes(const Contract& contract, Device& device) {
  std::vector<Plane> planes;
  for (const Shape& shape : tensors()) {
    const int64_t size = contract.size_bytes(shape);
    std::vector<std::byte> bytes(static_cast<size_t>(size));
#pragma omp parallel for
    for (int64_t i = 0; i < size; ++i) {
      bytes[static_cast<size_t>(i)] = static_cast<std::byte>(payload(1, static_cast<uint64_t>(i)));
    }
    planes.push_back({shape, std::move(bytes), device.allocate("w_exp", size)});
  }
  return planes;
}

/// Pinned chunks of the device's own size, and nothing done with what they hold.
class BareCopy {
 public:
  BareCopy() {
    for (void*& chunk : pinned_) PLANEGATE_CUDA_CHECK(cudaMallocHost(&chunk, kBytes));
    PLANEGATE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~BareCopy() {
    for (void* chunk : pinned_) PLANEGATE_CUDA_RECORD(cudaFreeHost(chunk));
    PLANEGATE_CUDA_RECORD(cudaStreamDestroy(stream_));
  }
  BareCopy(const BareCopy&) = delete;
  BareCopy& operator=(const BareCopy&) = delete;

  void run(const DeviceBuffer& buffer, cudaMemcpyKind direction) {
    for (int64_t at = 0; at < buffer.size_bytes(); at += kBytes) {
      void* const host = pinned_[static_cast<size_t>(at / kBytes) % pinned_.size()];
      void* const device = reinterpret_cast<std::byte*>(buffer.address()) + at;
      const auto bytes = static_cast<size_t>(std::min(kBytes, buffer.size_bytes() - at));
      const bool out = direction == cudaMemcpyDeviceToHost;
      PLANEGATE_CUDA_CHECK(
          cudaMemcpyAsync(out ? host : device, out ? device : host, bytes, direction, stream_));
    }
  }
  void wait() { PLANEGATE_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  static constexpr int64_t kBytes = CudaDevice::kChunkBytes;
  std::array<void*, CudaDevice::kChunks> pinned_{};
  cudaStream_t stream_ = nullptr;
};

double median_s(const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int run = 0; run < kRuns; ++run) {
    const auto begun = std::chrono::steady_clock::now();
    work();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[kRuns / 2];
}

/// The largest tensor of the model, its blocks up, its planes made there. False where one is wrong.
bool make_planes_there(Device& device) {
  constexpr int kLaunches = 20;
  const Shape shape(152064, 3584);
  const Catalog& catalog = shipped_catalog();
  const FormatOracle& format = *catalog.format("q6_K");
  std::vector<std::byte> weights(static_cast<size_t>(format.size_bytes(shape)));
  format.sample(shape, 1, weights);
  gates::Context context{catalog, device, 1};
  const std::vector<float> x(static_cast<size_t>(shape.id()), 1.0f);
  gates::Dataset file(
      context, "sample", {"w", "q6_K", shape, weights}, catalog.activations(),
      catalog.activations().quantise({"x", "f32", shape, std::as_bytes(std::span(x))}));
  const auto seconds_of = [&](const std::function<void()>& launch) {
    const auto all = [&] {
      for (int i = 0; i < kLaunches; ++i) launch();
    };
    all();
    std::vector<double> seconds;
    for (int i = 0; i < kRuns; ++i) seconds.push_back(device.timed_s(all) / kLaunches);
    std::sort(seconds.begin(), seconds.end());
    return seconds[kRuns / 2];
  };
  const DeviceBuffer& raw = file.ensure_plane(*catalog.producer("raw")->plane).buffer;
  const DeviceBuffer copy = device.allocate("copy", raw.size_bytes());
  auto& cuda = dynamic_cast<CudaDevice&>(device);
  const double copied = seconds_of([&] {
    PLANEGATE_CUDA_CHECK(cudaMemcpyAsync(
        reinterpret_cast<void*>(copy.address()), reinterpret_cast<const void*>(raw.address()),
        static_cast<size_t>(raw.size_bytes()), cudaMemcpyDeviceToDevice, cuda.stream()));
  });
  const double copy_rate = 2 * static_cast<double>(raw.size_bytes()) / copied;
  fmt::print("{:<28} {:7.3f} ms  {:6.0f} GB/s\n", "copy within the device", copied * 1e3,
             copy_rate * 1e-9);
  bool right = true;
  for (const DeviceProducerSpec& maker : catalog.device_producers()) {
    const SealedBytes mirror = file.mirror(*maker.plane);
    const GateReport report = gates::made_gate(context, maker, "w", mirror.bytes(), file);
    right = right && report.verdict == Verdict::kPass;
    const DeviceBuffer made = device.allocate("made", maker.plane->size_bytes(shape));
    const MakeRequest request{
        shape, {maker.source, &raw, kFirstGeneration}, {maker.plane, &made, kFirstGeneration}};
    const double seconds = seconds_of([&] { (*maker.on(DeviceKind::kCuda))(device, request); });
    const auto blocks = static_cast<double>(shape.od() * shape.nsb());
    // Of a super-block w_dsc needs sc and d alone.
    const double read = (maker.plane->name == "w_dsc" ? 18 : 210) * blocks;
    const double rate = (read + static_cast<double>(made.size_bytes())) / seconds;
    fmt::print("{:<28} {:7.3f} ms  {:6.0f} GB/s  {:.2f} of the copy  made gate {}\n", maker.name,
               seconds * 1e3, rate * 1e-9, rate / copy_rate, text(report.verdict));
  }
  return right;
}

int run() {
  CudaDevice device;
  BareCopy bare;
  const Contract& contract = *shipped_catalog().producer("w_exp")->plane;
  const std::vector<Plane> planes = make_planes(contract, device);
  double bytes = 0;
  for (const Plane& plane : planes) bytes += static_cast<double>(plane.bytes.size());
  fmt::print("{}\n{:.3f} GB in {} planes; at most {} MiB pinned\n", device.description(),
             bytes * 1e-9, planes.size(), CudaDevice::kChunks * CudaDevice::kChunkBytes >> 20);
  device.synchronise();

  const auto bare_s = [&](cudaMemcpyKind direction) {
    return median_s([&] {
      for (const Plane& plane : planes) bare.run(plane.buffer, direction);
      bare.wait();
    });
  };
  const double bare_in = bare_s(cudaMemcpyHostToDevice);
  const double upload = median_s([&] {
    for (const Plane& plane : planes) device.upload(plane.buffer, plane.bytes);
    device.synchronise();
  });
  const double bare_out = bare_s(cudaMemcpyDeviceToHost);
  int64_t differing = 0;
  const double readback = median_s([&] {
    for (const Plane& plane : planes) {
      gates::ByteComparison comparison(contract, plane.shape, plane.bytes);
      device.scan(plane.buffer, [&](std::span<const std::byte> piece) { comparison.add(piece); });
      differing += comparison.finish().count;
    }
  });
  const auto line = [&](const char* what, double seconds, double of) {
    fmt::print("{:<28} {:7.1f} ms  {:5.1f} GB/s  {:.2f} x bare copy\n", what, seconds * 1e3,
               bytes * 1e-9 / seconds, seconds / of);
  };
  line("bare copy to the device", bare_in, bare_in);
  line("upload", upload, bare_in);
  line("bare copy to the host", bare_out, bare_out);
  line("readback gate, compared", readback, bare_out);
  fmt::print("{} bytes differ\n", differing);
  return make_planes_there(device) && differing == 0 ? 0 : 1;
}

}  // namespace
}  // namespace planegate

int main() {
  try {
    return planegate::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "device_bench: {}\n", error.what());
    return 4;
  }
}
