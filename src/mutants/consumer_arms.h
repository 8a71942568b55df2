#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gates/kill_matrix.h"

/// The families of consumer_arms(), each from a source of its own.
namespace planegate::mutants {

/// One known-bad consumer in the matrix: parity alone must be red.
struct BadConsumer {
  std::string group;  ///< `addresses`
  std::string what;   ///< `rows nsb*224 bytes apart`
  std::string bug_class;
  std::string plane;
  std::string consumer;
  Shape shape;
  std::vector<std::string> must_name;
  std::vector<std::string> must_name_on_cuda = {};  ///< empty: the same
  std::string may_survive_on_cuda = {};
};

inline gates::Arm consumer_arm(BadConsumer bad) {
  gates::Arm arm;
  arm.name = "consumer " + bad.group + ": " + bad.consumer + ", " + bad.what;
  arm.bug_class = std::move(bad.bug_class);
  arm.plane = std::move(bad.plane);
  arm.consumer = std::move(bad.consumer);
  arm.shape = bad.shape;
  arm.expected = gates::kParityRed;
  arm.must_name = std::move(bad.must_name);
  arm.must_name_on_cuda = std::move(bad.must_name_on_cuda);
  arm.may_survive_on_cuda = std::move(bad.may_survive_on_cuda);
  return arm;
}

/// The same for a pipeline without one of its waits, fences or barriers: the executor names it. On
/// a GPU the race need not show, and may then change any value in any part of parity.
inline BadConsumer racing(BadConsumer bad) {
  bad.must_name_on_cuda = {"parity FAIL"};
  bad.may_survive_on_cuda = "a race need not show";
  return bad;
}

std::vector<gates::Arm> address_consumer_arms();
std::vector<gates::Arm> value_consumer_arms();
std::vector<gates::Arm> shape_consumer_arms();
std::vector<gates::Arm> execution_consumer_arms();
std::vector<gates::Arm> f16_consumer_arms();

}  // namespace planegate::mutants
