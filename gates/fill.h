#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <planegate/core/specs.h>

/// Two-valued fills: every byte of a plane is B or C, and one output tells which of both each byte
/// was that its element was decoded from.
namespace planegate::gates {

struct FillPair {
  uint8_t b = 0, c = 0;
};

/// How far above its byte's lowest bit the value of each field starts; 0 for whole bytes.
using Shifts = std::vector<int>;

/// Bytes that one value of the field comes from: 1 for sub-byte values.
int bytes_per_value(const Field& field);

/// The bit positions that the fields' values may have in their bytes, `first` at the front.
std::vector<Shifts> all_shifts(const std::vector<const Field*>& fields, const Shifts& first);

/// A fill that is legal in all of `fields` and gives every sub-byte value of a byte the same bits.
uint8_t constant_fill(const std::vector<const Field*>& fields);
/// The bits of every field under that fill, added to `bits`.
void add_constant_bits(const std::vector<const Field*>& fields, FieldBits& bits);

/// Which element value stands for which choice of B and C in the bytes of a plane's fields.
class ValueTable {
 public:
  /// `others`: the bits of fields that lie in other planes.
  /// `arithmetic`: of the consumer, which may round its operands.
  ValueTable(const FormatOracle& format, const std::vector<const Field*>& fields,
             const Shifts& shifts, const FieldBits& others, FillPair pair,
             const Arithmetic& arithmetic);

  /// All choices decode to finite values that the consumer's roundings cannot confuse.
  bool usable() const;
  /// The choice whose value is nearest to `y`, a bit per byte (0: B); -1 where none is near.
  int64_t choice(double y) const;
  /// The value of a choice that is nearest to `y`.
  double nearest(double y) const;

 private:
  double separation() const;
  double separation_needed(const Arithmetic& arithmetic) const;

  std::map<double, uint32_t> choices_;
  bool complete_ = true;
  double separation_ = 0, needed_ = 0;
};

/// The tables of one pair of fill bytes, one for each way that values may lie in their bytes.
class Fill {
 public:
  /// Finds a pair that tells all combinations of the fields' bytes apart, whatever the shifts, and
  /// by which a sub-byte value read at another bit position shows.
  /// @post !usable() where no pair does.
  Fill(const FormatOracle& format, std::vector<const Field*> fields, FieldBits others,
       const Arithmetic& arithmetic);

  bool usable() const { return usable_; }
  FillPair pair() const { return pair_; }
  const ValueTable& table(const Shifts& shifts) const { return tables_.at(shifts); }

 private:
  bool try_pair(const FormatOracle& format, const FieldBits& others, const Arithmetic& arithmetic);

  std::vector<const Field*> fields_;
  FillPair pair_;
  std::map<Shifts, ValueTable> tables_;
  bool usable_ = false;
};

}  // namespace planegate::gates
