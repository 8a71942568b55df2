#pragma once

#include <planegate/store/plane_switches.h>

#include "gates/dataset.h"

namespace planegate::gates {

/// What Dispatch chooses on the planes of `file`, run: the stamp must bear out the label, and the
/// output must be that of the control arm (the last in the order of preference), bit by bit where
/// both declare the same arithmetic, else within the bound.
[[nodiscard]] GateReport dispatch_gate(Context& context, Dataset& file,
                                       const PlaneSwitches& switches);

}  // namespace planegate::gates
