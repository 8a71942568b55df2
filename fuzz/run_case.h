#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <planegate/core/catalog.h>
#include <planegate/core/gate_report.h>
#include <planegate/devices/device.h>

#include "fuzz/case.h"

namespace planegate::fuzz {

/// A name that stands in a case and means nothing in the catalog, or a knob out of range.
class UnknownKnob : public std::runtime_error {
 public:
  UnknownKnob(std::string field, const std::string& why)
      : std::runtime_error(field + ": " + why), field_(std::move(field)) {}
  const std::string& field() const { return field_; }

 private:
  std::string field_;
};

/// The parity of each consumer on one case: a lattice, bound, independence, on planes that the
/// mirrors wrote. Data, planes and Y* are made once for all.
/// @pre each consumer takes the shape.
/// @throws UnknownKnob for data or a lattice that there is not, before anything runs.
std::vector<GateReport> run_case(const Catalog& catalog, Device& device, const Case& c,
                                 const std::vector<const ConsumerSpec*>& consumers);

/// The same for one consumer; where it is red the addresses it reads as well, so that the diagnosis
/// names the stride.
GateReport explained_case(const Catalog& catalog, Device& device, const Case& c,
                          const ConsumerSpec& consumer);

}  // namespace planegate::fuzz
