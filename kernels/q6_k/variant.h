#pragma once

#include <type_traits>

#include <planegate/core/hash.h>

#include "kernels/q6_k/decode_s8.h"
#include "kernels/q6_k/gemm_s8.h"
#include "kernels/q6_k/reduce_splits.h"

/// From kernels to variants: how each kind is launched and described. A variant adds a name and a
/// rank (smaller is preferred by Dispatch).
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

/// Variants whose planes, policies and preconditions follow from `Kernel`'s policies.
template <class Kernel>
struct VariantOf {
  using Codes = typename Kernel::Codes;
  using Scales = typename Kernel::Scales;

  static ConsumerSpec described(std::string name, int rank) {
    ConsumerSpec consumer;
    consumer.name = std::move(name);
    consumer.rank = rank;
    consumer.format = formats::kFormat;
    consumer.reads = merged(Codes::reads(), Scales::reads());
    consumer.preconditions = {
        {"id a multiple of 256", [](const Shape& s) { return s.id() % kSuperBlockElems == 0; }},
        {"od at most 2^31-1 rows", [](const Shape& s) { return s.od() <= INT32_MAX; }}};
    consumer.policies = Codes::policies();
    consumer.policies.push_back(Scales::policy());
    for (const Policy& policy : Kernel::Policies::policies()) consumer.policies.push_back(policy);
    consumer.blocks = [](const Shape& s) { return Kernel::grid(s).blocks(); };
    return consumer;
  }

 private:
  static std::vector<FieldUse> merged(FieldUse codes, FieldUse scales) {
    if (codes.plane != scales.plane) return {std::move(codes), std::move(scales)};
    codes.fields.insert(codes.fields.end(), scales.fields.begin(), scales.fields.end());
    return {std::move(codes)};
  }
};

/// GemmS8, alone or with the reduction of split K behind it.
template <class CodesPolicy, class ScalesPolicy, class Staging, int kSplits = 1,
          class Policies = GemmPolicies, class ReduceKernel = ReduceSplits<kSplits>>
struct GemmVariant {
  using Kernel = GemmS8<CodesPolicy, ScalesPolicy, Staging, kSplits, Policies>;
  using Reduce = ReduceKernel;
  using Kernels =
      std::conditional_t<kSplits == 1, simt::KernelList<Kernel>, simt::KernelList<Kernel, Reduce>>;

  static void launch(simt::Binder& binder, const LaunchRequest& request, uint32_t instance) {
    const Shape& shape = request.shape;
    if constexpr (kSplits == 1) {
      binder.template launch<Kernel>(Kernel::grid(shape),
                                     Kernel::bind(request, binder, instance, *request.y));
    } else {
      const DeviceBuffer& partial = *request.workspace;
      binder.template launch<Kernel>(Kernel::grid(shape),
                                     Kernel::bind(request, binder, instance, partial));
      binder.template launch<Reduce>(
          Reduce::grid(shape),
          typename Reduce::Args{binder.pointer<const float>(partial),
                                binder.pointer<float>(*request.y), shape.od(), shape.nt()});
    }
  }

  static ConsumerSpec described(std::string name, int rank) {
    ConsumerSpec consumer = VariantOf<Kernel>::described(std::move(name), rank);
    consumer.reads.push_back({&describe<Qa8>(), {"codes"}});
    consumer.reads.push_back({&describe<Sda>(), {"d"}});
    consumer.preconditions.push_back({"at most 65535 blocks along tokens (64 a tile)",
                                      [](const Shape& s) { return Kernel::grid(s).y <= 65535; }});
    consumer.policies.push_back({"activation staging", Staging::kName});
    consumer.policies.push_back({"arithmetic", "mma m16n8k16 s8, scale-add per 16"});
    consumer.arithmetic = {formats::kSubBlockElems, 2, "int32 over 16, then f32 sequential over k"};
    consumer.determinism_reason = "every element is summed by one lane in order of k";
    consumer.tile_rows = Kernel::kTileRows;
    if constexpr (kSplits > 1) {
      consumer.policies.push_back({"split K", std::to_string(kSplits) + " parts, added in order"});
      consumer.arithmetic.text = "int32 over 16, then f32 in parts of k, parts in order";
      // The longest part, then one addition a part.
      consumer.arithmetic.additions = [](const Shape& s) {
        const int64_t steps = s.id() / Kernel::kStepElems;
        return (steps + kSplits - 1) / kSplits * (Kernel::kStepElems / formats::kSubBlockElems) +
               kSplits;
      };
      consumer.workspace_bytes = [](const Shape& s) { return kSplits * s.nt() * s.od() * 4; };
    }
    return consumer;
  }
};

/// DecodeS8.
template <class CodesPolicy, class ScalesPolicy, class Policies = DecodePolicies>
struct DecodeVariant {
  using Kernel = DecodeS8<CodesPolicy, ScalesPolicy, Policies>;
  using Kernels = simt::KernelList<Kernel>;

  static void launch(simt::Binder& binder, const LaunchRequest& request, uint32_t instance) {
    binder.template launch<Kernel>(Kernel::grid(request.shape),
                                   Kernel::bind(request, binder, instance));
  }

  static ConsumerSpec described(std::string name, int rank) {
    ConsumerSpec consumer = VariantOf<Kernel>::described(std::move(name), rank);
    consumer.reads.push_back({&describe<Pad40>(), {"d", "codes"}});
    consumer.preconditions.push_back(
        {"at most 8 tokens", [](const Shape& s) { return s.nt() <= Kernel::kMaxTokens; }});
    consumer.meant_for = [](const Shape& s) { return s.nt() <= Kernel::kMaxTokens; };
    consumer.policies.push_back({"arithmetic", "dp4a over 16, scale-add, butterfly"});
    consumer.arithmetic = {formats::kSubBlockElems, 2,
                           "int32 over 16, then f32 by lanes and a butterfly of 32"};
    consumer.arithmetic.additions = [](const Shape& s) {
      constexpr int64_t kPerLane = formats::kSubBlockElems * simt::kWarpLanes;
      return (s.id() + kPerLane - 1) / kPerLane + 5;
    };
    consumer.determinism_reason = "pieces are dealt to lanes and added in one fixed pattern";
    consumer.tile_rows = Kernel::kRows;
    return consumer;
  }
};

/// Launches `Variant` on the device that this translation unit was compiled for.
/// @throws ContractError when the output, the stamps or the workspace have the wrong size.
template <class Variant>
void launch(Device& device, const LaunchRequest& request) {
  static const ConsumerSpec spec = Variant::described(Variant::kName, Variant::kRank);
  simt::require_sizes(spec, request);
  simt::Binder binder(device);
  Variant::launch(binder, request, spec.instance());
}

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
