#include "mutants/consumer_arms.h"

namespace planegate::mutants {
namespace {

const Shape kSmall(3, 512, 2);
const Shape kTwoBlocksAPart(3, 8192, 2);  // of 16 parts
constexpr const char* kUnseen = "tokens beyond nt are not written";

std::vector<BadConsumer> half_pipelines() {
  const std::string not_fenced = "not fenced: block (0, 0)";
  const auto arm = [](const char* what, const char* bug_class, const char* consumer,
                      std::vector<std::string> must_name) {
    return racing({"f16", what, bug_class, "w_exp", consumer, kSmall, std::move(must_name)});
  };
  return {
      arm("one group of copies more may stay in flight", "async-copy-not-waited",
          "w_exp/f16+wait_one_less", {"copy not waited for: block (0, 0)"}),
      arm("no fence between barriers and bulk copies", "race/missing-sync",
          "w_exp/f16+no_fence_async", {not_fenced, "with no fence_async since"}),
      arm("bulk copies not waited for", "async-copy-not-waited", "w_exp/f16+no_phase_wait",
          {"copy not waited for: block (0, 0)", "the destination of a bulk copy"}),
      arm("one group of products more may stay in flight", "async-copy-not-waited",
          "w_exp/f16+one_more_in_flight",
          {not_fenced, "releases an operand of a wgmma that was not waited for"}),
      arm("no barrier behind the wait", "race/missing-sync", "w_exp/f16+no_barrier",
          {"uninitialised shared memory: block (0, 0)"}),
      arm("no wgmma_fence", "race/missing-sync", "w_exp/f16+no_wgmma_fence",
          {not_fenced, "with no wgmma_fence since the group before"}),
      arm("products never waited for", "async-copy-not-waited", "w_exp/f16+no_wgmma_wait",
          {"wgmma not waited for: block (0, 0)", "ends with"}),
      arm("operands released before the wait", "async-copy-not-waited",
          "w_exp/f16+released_too_early",
          {not_fenced, "releases an operand of a wgmma that was not waited for"}),
      arm("operands not held until the wait", "race/missing-sync", "w_exp/f16+operands_not_held",
          {not_fenced, "operands of earlier ones not released"}),
      arm("scales of the other super-block", "scale-plane-mismatch",
          "w_exp/f16+scales_of_other_block", {"uninitialised shared memory: block (0, 0)"}),
      arm("scales of the other super-block, wide tile", "scale-plane-mismatch",
          "w_exp/f16_wide+scales_of_other_block", {"uninitialised shared memory: block (0, 0)"}),
      racing({"f16",
              "one buffer for the scales of both super-blocks",
              "async-copy-not-waited",
              "padded",
              "w_exp/f16+one_scale_buffer",
              kTwoBlocksAPart,
              {"copy not waited for: block (0, 0)"}}),
  };
}

std::vector<BadConsumer> half_values() {
  return {
      {"f16",
       "parts overlap by a super-block",
       "fixup-index",
       "w_exp",
       "w_exp/f16+parts_overlap",
       kSmall,
       {"w_exp: no map: at line 0, k 511 the output is "}},
      {"f16",
       "rows beyond od written",
       "tail-rows-unmasked",
       "w_exp",
       "w_exp/f16+rows_unmasked",
       Shape(70, 256, 1),
       {"access out of bounds", "of y (280 bytes)"},
       {"guard zone of y overwritten"}},
      {"f16",
       "sums not rescaled where d changes",
       "scale-plane-mismatch",
       "padded",
       "w_exp/f16+not_rescaled",
       kTwoBlocksAPart,
       {"d of padded: sb digit k/512, contract k/256"}},
      {"f16",
       "units of a d that is 0",
       "sign/centering",
       "padded",
       "w_exp/f16+units_of_zero",
       kTwoBlocksAPart,
       {"every address is the contract's"}},
      {"f16",
       "activations not brought into the range of f16",
       "sign/centering",
       "sda",
       "w_exp/f16+activations_unscaled",
       kSmall,
       {"sda: no map: at line 0, k 0 the output is "}},
      {"f16",
       "tokens beyond nt converted",
       "tail-rows-unmasked",
       "qa8",
       "w_exp/f16+tokens_unmasked",
       kSmall,
       {"access out of bounds", "/sda (4096 bytes)"},
       {},
       kUnseen},
      {"f16",
       "qa8 without its swizzle",
       "scale-plane-mismatch",
       "qa8",
       "w_exp/f16+qa8_unswizzled",
       Shape(3, 512, 9),
       {"codes of qa8: tile digit line/4, contract line/64"}},
      {"f16",
       "rows nsb*224 bytes apart",
       "wrong-row-stride",
       "w_exp",
       "w_exp/f16+rows_at_padded_stride",
       kSmall,
       {"codes of w_exp: row stride 448, contract 512", "it is the row stride of plane padded"}},
  };
}

}  // namespace

std::vector<gates::Arm> f16_consumer_arms() {
  std::vector<gates::Arm> arms;
  for (auto* family : {half_pipelines, half_values}) {
    for (BadConsumer& bad : family()) arms.push_back(consumer_arm(std::move(bad)));
  }
  return arms;
}

}  // namespace planegate::mutants
