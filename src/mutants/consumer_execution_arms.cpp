#include "mutants/consumer_arms.h"

namespace planegate::mutants {
namespace {

const Shape kSmall(3, 512, 2);

std::vector<BadConsumer> pipelines() {
  const std::string not_waited = "copy not waited for: block (0, 0)";
  const std::string unwritten = "uninitialised shared memory: block (0, 0)";
  const std::string race = "race on shared memory: block (0, 0)";
  const auto arm = [](const char* what, const char* bug_class, const char* consumer,
                      std::vector<std::string> must_name) {
    return racing({"pipeline", what, bug_class, "w_exp", consumer, kSmall, std::move(must_name)});
  };
  return {
      arm("cp.async never waited for", "async-copy-not-waited", "w_exp/cp_async+never_waits",
          {not_waited}),
      arm("two groups may stay in flight", "async-copy-not-waited", "w_exp/cp_async+wait_2",
          {not_waited}),
      arm("waits behind the barrier", "async-copy-not-waited", "w_exp/cp_async+wait_behind_barrier",
          {not_waited, "the destination of a cp.async of thread 4"}),
      arm("copies never committed", "async-copy-not-waited", "w_exp/cp_async+never_commits",
          {not_waited}),
      arm("no barrier before the multiplication", "race/missing-sync",
          "w_exp/cp_async+no_barrier_before", {unwritten}),
      arm("no barrier after the multiplication", "race/missing-sync",
          "w_exp/cp_async+no_barrier_after", {race}),
      arm("no barrier before the multiplication", "race/missing-sync",
          "w_exp/copy16+no_barrier_before", {unwritten}),
      arm("no barrier after the multiplication", "race/missing-sync",
          "w_exp/copy16+no_barrier_after", {race}),
      arm("sync_warp for sync_threads", "race/missing-sync", "w_exp/copy16+warp_barrier",
          {unwritten}),
      arm("multiplies the buffer that is being filled", "race/missing-sync",
          "w_exp/cp_async+other_buffer", {not_waited}),
      arm("multiplies the buffer of the step before", "async-copy-not-waited",
          "w_exp/cp_async+buffer_of_step_before", {not_waited}),
      arm("one buffer for both steps", "race/missing-sync", "w_exp/copy16+one_buffer",
          {"w_exp: no map: at line 0, k 0 the output is 0"}),
  };
}

std::vector<BadConsumer> alignment() {
  const std::string misaligned = "misaligned access: block (0, 0)";
  return {
      {"alignment",
       "16-byte loads from blocks of 210",
       "alignment",
       "raw",
       "raw/expand+16_byte_loads",
       kSmall,
       {misaligned, "reads 16 bytes at byte 420 of", "/raw ("}},
      {"alignment",
       "16-byte loads from blocks of 210",
       "alignment",
       "raw",
       "raw/expand+w_dsc+16_byte_loads",
       kSmall,
       {misaligned, "reads 16 bytes at byte", "/raw ("}},
      {"alignment",
       "k cut inside a group of 16",
       "TP-shard-offset",
       "w_exp",
       "w_exp/cp_async+from_element_8",
       kSmall,
       {misaligned, "copies 16 bytes at byte", "/w_exp ("}},
      {"alignment",
       "od for od_even",
       "alignment",
       "w_dsc",
       "w_exp/cp_async+w_dsc+od_for_od_even",
       kSmall,
       {misaligned, "copies 16 bytes at byte", "/w_dsc ("}},
  };
}

std::vector<BadConsumer> launches() {
  return {
      {"liveness",
       "stamps off",
       "wrong-dispatch",
       "w_exp",
       "w_exp/cp_async+stamps_off",
       kSmall,
       {"liveness: block 0 of 1 left no stamp"}},
      {"liveness",
       "stamps of another instance",
       "wrong-dispatch",
       "w_exp",
       "w_exp/cp_async+other_instance",
       kSmall,
       {"liveness: block 0 stamped instance"}},
      {"liveness",
       "stamps of an older generation",
       "stale-plane",
       "w_exp",
       "w_exp/cp_async+old_generation",
       kSmall,
       {"liveness: block 0 stamped instance", "generation 0"}},
      {"liveness",
       "row tiles of 256 for a kernel of 128",
       "tile/grid mismatch",
       "w_exp",
       "w_exp/cp_async+row_tiles_256",
       Shape(129, 256, 1),
       {"liveness: block 1 of 2 left no stamp"}},
      {"liveness",
       "row tiles of 256, and the spec agrees",
       "tile/grid mismatch",
       "w_exp",
       "w_exp/cp_async+row_tiles_256_agreed",
       Shape(129, 256, 1),
       {"1 elements were never written", "row 128"}},
      {"liveness",
       "whole token tiles only",
       "tile/grid mismatch",
       "w_exp",
       "w_exp/cp_async+whole_token_tiles",
       Shape(2, 256, 65),
       {"liveness: block 1 of 2 left no stamp"}},
      {"liveness",
       "x and y of the grid exchanged",
       "tile/grid mismatch",
       "w_exp",
       "w_exp/cp_async+grid_transposed",
       Shape(1, 256, 65),
       {"1 elements were never written", "token 64"}},
  };
}

}  // namespace

std::vector<gates::Arm> execution_consumer_arms() {
  std::vector<gates::Arm> arms;
  for (auto* family : {pipelines, alignment, launches}) {
    for (BadConsumer& bad : family()) arms.push_back(consumer_arm(std::move(bad)));
  }
  return arms;
}

}  // namespace planegate::mutants
