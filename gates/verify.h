#pragma once

#include <functional>
#include <string>
#include <vector>

#include <planegate/store/plane_switches.h>

#include "gates/context.h"

namespace planegate::gates {

/// For which tensors parity recovers addresses: those up to kAddressElems elements and whatever
/// is red, all, or none.
enum class Addresses : uint8_t { kSmall, kAlways, kNever };

/// What to verify of a tensor. Empty lists: everything that is registered for its format.
struct Selection {
  std::vector<std::string> planes;     ///< names; the consumers are then left out
  std::vector<std::string> consumers;  ///< names; their planes are verified first
  Addresses addresses = Addresses::kSmall;
  bool dispatch = false;  ///< also what Dispatch would choose, under `switches`
  PlaneSwitches switches = {};
};

/// Called with each finished report; may print.
using OnReport = std::function<void(const GateReport&)>;
/// Called before each stage: `blk.0.attn_v.weight: parity w_exp/cp_async`.
using OnStage = std::function<void(const std::string&)>;

/// Sends one weight tensor through mirror and readback for every plane and parity and chain for
/// every consumer, each stage on trusted input.
///
/// Activations are made by hash(seed): (weights.shape.nt, id). Memory: the tensor's planes and
/// outputs, one lattice at a time. A tensor with a non-finite scale fails gate `scales` and the
/// rest is skipped. A gate that the device has no memory for is skipped with the reason. Where the
/// device is lost the gate at work fails with device_lost, and nothing is verified after it: what
/// was done so far is returned. @throws ContractError for a format that is not registered.
std::vector<GateReport> verify_tensor(Context& context, const RawTensor& weights,
                                      const Selection& selection, const OnReport& on_report = {},
                                      const OnStage& on_stage = {});

}  // namespace planegate::gates
