#pragma once

#include <planegate/core/hash.h>

#include "kernels/q6_k/gemm_s8.h"

/// What a variant's two stems need: its launch on either device, and its spec.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// Launches `Variant` on the device that this translation unit was compiled for.
/// @throws ContractError when the output or the stamps have the wrong size.
template <class Variant>
void launch(Device& device, const LaunchRequest& request) {
  using Kernel = typename Variant::Kernel;
  const Shape& shape = request.shape;
  const simt::Grid grid = Kernel::grid(shape);
  require(request.y->size_bytes() == shape.nt() * shape.od() * 4, "y.size_bytes",
          request.y->size_bytes(), "nt*od*4");
  require(request.stamps == nullptr ||
              request.stamps->size_bytes() == grid.blocks() * static_cast<int64_t>(sizeof(Stamp)),
          "stamps.size_bytes", request.stamps == nullptr ? 0 : request.stamps->size_bytes(),
          "16 a block");
  simt::Binder binder(device);
  const auto instance = static_cast<uint32_t>(fnv1a(Variant::kName));
  binder.template launch<Kernel>(grid, Kernel::bind(request, binder, instance));
}

#if !defined(__CUDACC__)
/// The spec of a variant; its cuda launch is added where that half was built.
template <class Variant>
ConsumerSpec spec() {
  using Codes = typename Variant::Codes;
  using Kernel = typename Variant::Kernel;
  ConsumerSpec consumer;
  consumer.name = Variant::kName;
  consumer.format = formats::kFormat;
  consumer.reads = Codes::reads();
  consumer.reads.push_back({&describe<Qa8>(), {"codes"}});
  consumer.reads.push_back({&describe<Sda>(), {"d"}});
  consumer.preconditions = {
      {"id a multiple of 256", [](const Shape& s) { return s.id() % kSuperBlockElems == 0; }},
      {"nt at most 4194240 (65535 token tiles)",
       [](const Shape& s) { return Kernel::grid(s).y <= 65535; }},
      {"od at most 2^31-1 rows", [](const Shape& s) { return s.od() <= INT32_MAX; }}};
  consumer.arithmetic = {formats::kSubBlockElems, 2, "int32 over 16, then f32 sequential over k"};
  consumer.determinism_reason = "every element is summed by one lane in order of k";
  consumer.policies = Codes::policies();
  consumer.policies.push_back({"scales", "d*sc decoded in the kernel from raw"});
  consumer.policies.push_back({"arithmetic", "mma m16n8k16 s8, scale-add per 16"});
  consumer.blocks = [](const Shape& s) { return Kernel::grid(s).blocks(); };
  consumer.launches = {{DeviceKind::kHost, &launch<Variant>}};
  return consumer;
}
#endif

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
