#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gates/parity.h"

namespace planegate::gates {

/// The judging parts of parity, as detectability() calls them. Replaced in tests alone.
struct JudgingParts {
  std::function<GateReport(Context&, const ConsumerSpec&, Dataset&)> lattice =
      [](Context& context, const ConsumerSpec& consumer, Dataset& dataset) {
        return gates::lattice(context, consumer, dataset);
      };
  std::function<GateReport(Context&, const ConsumerSpec&, Dataset&, const ConsumerRun&)> bound =
      gates::bound;
};

/// One of the smallest faults that there are, and which parts saw it when it was planted.
struct PlantedFault {
  std::string text;  ///< `w_exp codes of row 0, k 0 off by one`
  bool mirror = false;
  std::vector<std::string> lattices;  ///< names of those that see it; empty: blind
  bool bound = false;                 ///< false: blind

  bool judged() const { return bound || !lattices.empty(); }
};

/// How sharp parity's judgement of one consumer is at one shape.
struct Detectability {
  std::string consumer;
  Shape shape{1, 1};
  std::string device;
  std::vector<std::string> lattices;  ///< names of those that are exact at this id
  std::vector<PlantedFault> faults;
  /// Why nothing can be said: the consumer fails on right planes, so that a red part after a fault
  /// means nothing. `faults` is then empty.
  std::string failure;

  /// Whether faults were planted and lattice or bound saw each of them.
  bool complete() const;
  /// What was seen by whom, what bound alone would let pass, and by name what no part saw.
  std::string sentence() const;
};

/// Plants the smallest faults one by one, runs `consumer` on each lattice and on sampled data, and
/// lets parity's own parts judge the output.
///
/// For every field that the consumer reads: one value of the first, the last and a hash-chosen
/// place off by one (integers by 1 inside their range, floats by one ulp). Beside these the tail:
/// the last row of the last token left 0, as if its contribution were missing. A changed plane is
/// content, which mirror and readback see whatever it does; the question here is whether lattice
/// and bound notice the *output* that a consumer gives which takes one value for another.
///
/// Sampled data are weights as a quantiser leaves them and activations as a model makes them, by
/// hash(context.seed). Runs: five a fault. Memory: one dataset and its planes at a time.
/// @throws ContractError when the consumer refuses the shape or does not run on the device.
Detectability detectability(Context& context, const ConsumerSpec& consumer, const Shape& shape,
                            const JudgingParts& parts = {},
                            const std::function<void(const std::string&)>& on_stage = {});

}  // namespace planegate::gates
