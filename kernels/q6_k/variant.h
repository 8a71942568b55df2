#pragma once

#include <type_traits>

#include <planegate/core/hash.h>

#include "kernels/q6_k/decode_s8.h"
#include "kernels/q6_k/gemm_f16.h"
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
          class Policies = GemmPolicies, class ReduceKernel = ReduceSplits<>>
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
          Reduce::grid(shape), typename Reduce::Args{binder.pointer<const float>(partial),
                                                     binder.pointer<float>(*request.y), shape.od(),
                                                     shape.nt(), kSplits});
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
    consumer.policies.push_back({"activation staging", "words, decoded into shared memory"});
    consumer.policies.push_back({"arithmetic", "dp4a over 16, scale-add, butterfly"});
    consumer.arithmetic = {formats::kSubBlockElems, 2,
                           "int32 over 16, then f32 by lanes and a butterfly of 32"};
    consumer.arithmetic.additions = [](const Shape& s) {
      constexpr int64_t kPass = Kernel::kPassElems;
      return (s.id() + kPass - 1) / kPass * Kernel::kPieces + 5;
    };
    consumer.determinism_reason = "quads are dealt to lanes and added in one fixed pattern";
    consumer.tile_rows = Kernel::kRows;
    return consumer;
  }
};

/// GemmF16 behind the conversion of the activations, before the reduction of split K.
template <class CodesPolicy, class ScalesPolicy, int kTileTokens, class Policies = HalfPolicies>
struct HalfVariant {
  using Planes = HalfPlanes<kTileTokens>;
  using Convert = HalfActivations<Planes, Policies>;
  using Kernel = GemmF16<CodesPolicy, ScalesPolicy, kTileTokens, Policies>;
  using Reduce = ReduceSplits<>;
  using Kernels = simt::KernelList<Kernel, Convert, Reduce>;

  static void launch(simt::Binder& binder, const LaunchRequest& request, uint32_t instance) {
    const Shape& shape = request.shape;
    const auto scratch = binder.template pointer<std::byte>(*request.workspace);
    const auto x = scratch.template cast<Words4>();
    const auto scale = (scratch + Planes::x_bytes(shape)).template cast<float>();
    const auto partial = (scratch + Planes::size_bytes(shape)).template cast<float>();
    const auto y = binder.template pointer<float>(*request.y);
    const auto splits = static_cast<int>(Kernel::splits(shape));
    binder.template launch<Convert>(
        Convert::grid(shape), typename Convert::Args{Convert::ActCodes::bind(request, binder),
                                                     Convert::ActScales::bind(request, binder), x,
                                                     scale, shape.id(), shape.nt()});
    typename Kernel::Args args{
        CodesPolicy::bind(request, binder),
        ScalesPolicy::bind(request, binder),
        x,
        scale,
        splits > 1 ? partial : y,
        {},
        simt::stamp_words(instance, simt::requested<typename CodesPolicy::Contract>(request)),
        shape.od(),
        shape.id(),
        shape.nt(),
        splits};
    if (request.stamps != nullptr) {
      args.stamps = binder.template pointer<Words4>(*request.stamps);
    }
    binder.template launch<Kernel>(Kernel::grid(shape), args);
    if (splits == 1) return;
    binder.template launch<Reduce>(
        Reduce::grid(shape), typename Reduce::Args{partial, y, shape.od(), shape.nt(), splits});
  }

  static ConsumerSpec described(std::string name, int rank) {
    ConsumerSpec consumer = VariantOf<Kernel>::described(std::move(name), rank);
    consumer.reads.push_back({&describe<Qa8>(), {"codes"}});
    consumer.reads.push_back({&describe<Sda>(), {"d"}});
    consumer.preconditions.push_back(
        {"at most 65535 blocks along tokens (" + std::to_string(kTileTokens) + " a tile)",
         [](const Shape& s) { return Kernel::grid(s).y <= 65535; }});
    consumer.meant_for = [](const Shape& s) { return s.nt() >= Kernel::kFewestTokens; };
    consumer.policies.push_back({"activation staging", "f16 tiles in scratch memory, bulk copies"});
    consumer.policies.push_back(
        {"arithmetic", "wgmma m64n" + std::to_string(kTileTokens) + "k16 f16, rescaled per 256"});
    consumer.arithmetic = {1, 3, "f16 in tensor cores, rescaled where d changes, in parts of k"};
    // A tensor core may cut where f32 would round: each of 17 additions a step of 16 counts twice.
    // Rescaling rounds a ratio and a product.
    consumer.arithmetic.additions = [](const Shape& s) {
      constexpr int64_t kOfBlock = kSuperBlockElems / 16 * 17 * 2 + 2;
      const int64_t splits = Kernel::splits(s);
      return (s.nsb() + splits - 1) / splits * kOfBlock + splits;
    };
    // f16(code * sc) and f16(x): 2^-11 each. Below 2^-14 of 2^15, f16 is spaced evenly.
    consumer.arithmetic.operand_relative = 0x1p-10 + 0x1p-22;
    consumer.arithmetic.activation_floor = 0x1p-39;
    consumer.determinism_reason = "every element is summed by one lane in order of k";
    consumer.tile_rows = Kernel::kTileRows;
    consumer.tile_tokens = Kernel::kTileTokens;
    consumer.workspace_bytes = [](const Shape& s) {
      const int64_t splits = Kernel::splits(s);
      return Planes::size_bytes(s) + (splits > 1 ? splits * s.nt() * s.od() * 4 : 0);
    };
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
