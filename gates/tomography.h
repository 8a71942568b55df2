#pragma once

#include <array>
#include <string>
#include <vector>

#include "gates/consumer_run.h"

namespace planegate::gates {

/// One place whose address is asked for: a row or token, and an element of it.
struct Probe {
  int64_t line = 0;
  int64_t k = 0;
};

/// From where in the plane the consumer took a field's value, probe by probe.
struct FieldAddresses {
  const Field* field = nullptr;
  /// The bit offset of each byte of the value, lowest first; sub-byte values have one, that of
  /// their lowest bit.
  std::vector<std::array<int64_t, 4>> offset_bits;
};

/// What a consumer reads of one plane, seen through its output alone.
struct Tomogram {
  const Contract* plane = nullptr;
  Shape shape{1, 1};
  std::vector<Probe> probes;
  std::vector<FieldAddresses> fields;  ///< those that the consumer declares to read
  int passes = 0;                      ///< runs with another fill
  /// Why there is no map: a run failed, or an output is no value that the fill can give.
  std::string failure;
};

/// `shape` with two tiles of tokens, or as many as the consumer takes.
Shape many_tokens(const ConsumerSpec& consumer, const Shape& shape);

/// Recovers the addresses that `consumer` reads in the plane of `use`.
///
/// Two-valued fill: in pass b every byte of the plane is B or C by bit b of its own offset, (B, C)
/// chosen so that all combinations of the fields' bytes decode to different values. One output
/// then reveals one address bit of every byte that its element was decoded from. Where no bytes
/// decode to what was seen, sub-byte values are tried at the other bit positions of their byte: a
/// last pass with B and C exchanged tells those apart. Weights are probed with one-hot activations,
/// activations with one-hot weights; all other planes are constant or the mirrors' bytes. Needs
/// nothing of the consumer but its output: it works on a black box.
///
/// Small tensors are probed wholly, large ones at the boundaries of the contract's modes, at the
/// last elements and at a random sample of k. Weights are probed at many_tokens(), by two tokens of
/// different tiles that must agree; activations at `shape` itself.
Tomogram observe(Context& context, const ConsumerSpec& consumer, const FieldUse& use,
                 const Shape& shape);

}  // namespace planegate::gates
