#pragma once

#include <vector>

#include "gates/kill_matrix.h"

/// The corpus of the kill matrix: faults of the shipped formats, each with the verdicts it must
/// get. Hand-written arms stand by the stage that they break; address arms are generated.
namespace planegate::mutants {

/// Producers that write other bytes: order, centring, saturation, padding, pairing, rounding.
std::vector<gates::Arm> producer_arms();
/// Uploads and registrations that go wrong: partial, stale, shifted, under another name.
std::vector<gates::Arm> upload_arms();
/// Producers that run on the device: strides, centring, tails, waits.
std::vector<gates::Arm> maker_arms();
/// Consumers with exactly one policy replaced: addresses, tails, decoding, pipelines, split K.
std::vector<gates::Arm> consumer_arms();
/// Right kernels that are chosen, bound or labelled wrongly; a mirror that shares a mistake.
std::vector<gates::Arm> dispatch_arms();
/// One arm for each change of each mode of each field of each plane, and one at a single block for
/// each change that hides there.
std::vector<gates::Arm> address_arms();
/// `sda.sum`: fields that have no address arms, because nothing reads them.
std::vector<std::string> fields_without_reader();

/// All of them, hand-written first. Names are unique.
std::vector<gates::Arm> all_arms();

/// Classes of public reports that cannot occur here, and why.
struct AbsentClass {
  const char* bug_class;
  const char* why;
};
std::vector<AbsentClass> absent_classes();

}  // namespace planegate::mutants
