#pragma once

#include <map>
#include <vector>

#include "gates/incumbents.h"
#include "gates/kill_matrix.h"
#include "oracle/gemm.h"

/// The corpus before the incumbents' judges: what tests of the output alone would say.
namespace planegate::gates {

enum class Judged : char {
  kAccepts = '.',
  kRejects = 'x',
  kStopped = '!',  ///< no output: the run ended with an error
  kNotRun = '-',   ///< the consumer takes none of the shapes, or they are too large here
};

/// By incumbents(), in that order.
struct JudgedArm {
  std::vector<Judged> own;   ///< at the shapes of the judge's project
  std::vector<Judged> ours;  ///< at the arm's shape
};

/// One shape's inputs as a model has them, and Y*.
struct Problem {
  std::vector<std::byte> weights;
  std::vector<float> x;
  oracle::Reference reference;
};

/// Runs the pipeline of an arm end to end with nothing checked: the producers' bytes, the faulty
/// device's uploads, the consumer, or where the arm's dispatch is asked for what Dispatch chooses.
/// Inputs are those of the matrix; Y* comes from the clean catalog.
class IncumbentBench {
 public:
  /// Shapes of more than `most_terms` = od*id*nt are left out.
  IncumbentBench(const Catalog& clean, DeviceKind kind, int64_t most_terms)
      : clean_(clean), kind_(kind), most_terms_(most_terms) {}

  /// A judge rejects an arm at the first of its shapes where it rejects the output. Where the
  /// consumer refuses a shape, nt is halved until it does not.
  JudgedArm judge(const Arm& arm);
  /// The shapes of `judge` that are small enough here.
  std::vector<Shape> shapes_of(const Judge& judge) const;

 private:
  const Problem& problem(const FormatOracle& format, const Shape& shape);

  const Catalog& clean_;
  DeviceKind kind_;
  int64_t most_terms_;
  std::map<std::string, Problem> problems_;
};

}  // namespace planegate::gates
