#include "gates/fill.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <planegate/core/hash.h>

namespace planegate::gates {
namespace {

/// Two outputs that stand for different addresses are at least this far apart, relatively: many
/// times what a few f32 roundings move them, and what the rounding of operands does.
constexpr double kSeparation = 4e-6;
constexpr double kOperandErrors = 8;
constexpr uint8_t kConstants[] = {0x55, 0x11};
constexpr uint64_t kMostPairs = 20'000;

uint32_t mask_of(const Field& field) {
  return field.bits == 32 ? 0xFFFFFFFFu : (1u << field.bits) - 1u;
}

/// Both bytes are legal for all fields of 8 bits that carry integers.
bool in_range(const std::vector<const Field*>& fields, FillPair pair) {
  for (const Field* field : fields) {
    if (field->bits != 8 || field->encoding != Encoding::kSigned) continue;
    for (const uint8_t byte : {pair.b, pair.c}) {
      const auto value = static_cast<int8_t>(byte);
      if (value < field->min || value > field->max) return false;
    }
  }
  return true;
}

/// Read at any two bit positions, a sub-byte value takes two values that are not the same two.
bool tells_positions(const std::vector<const Field*>& fields, FillPair pair) {
  for (const Field* field : fields) {
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (int shift = 0; field->bits < 8 && shift < 8; shift += field->bits) {
      const auto values = std::minmax({uint32_t{pair.b} >> shift & mask_of(*field),
                                       uint32_t{pair.c} >> shift & mask_of(*field)});
      if (values.first == values.second || !seen.insert(values).second) return false;
    }
  }
  return true;
}

}  // namespace

int bytes_per_value(const Field& field) {
  return field.bits <= 8 ? 1 : field.bits / 8;
}

std::vector<Shifts> all_shifts(const std::vector<const Field*>& fields, const Shifts& first) {
  std::vector<Shifts> all = {Shifts(fields.size(), 0)};
  for (size_t f = 0; f < fields.size(); ++f) {
    const size_t known = all.size();
    for (int shift = fields[f]->bits; shift < 8; shift += fields[f]->bits) {
      for (size_t i = 0; i < known; ++i) {
        all.push_back(all[i]);
        all.back()[f] = shift;
      }
    }
  }
  std::stable_partition(all.begin(), all.end(), [&](const Shifts& s) { return s == first; });
  return all;
}

uint8_t constant_fill(const std::vector<const Field*>& fields) {
  for (const uint8_t byte : kConstants) {
    const bool alike = std::all_of(fields.begin(), fields.end(), [&](const Field* field) {
      return field->bits >= 8 ||
             (byte >> field->bits & mask_of(*field)) == (byte & mask_of(*field));
    });
    if (alike && in_range(fields, {byte, byte})) return byte;
  }
  return kConstants[0];
}

void add_constant_bits(const std::vector<const Field*>& fields, FieldBits& bits) {
  for (const Field* field : fields) {
    bits[field->name] = 0x01010101u * constant_fill(fields) & mask_of(*field);
  }
}

ValueTable::ValueTable(const FormatOracle& format, const std::vector<const Field*>& fields,
                       const Shifts& shifts, const FieldBits& others, FillPair pair,
                       const Arithmetic& arithmetic) {
  int bytes = 0;
  for (const Field* field : fields) bytes += bytes_per_value(*field);
  for (uint32_t choice = 0; complete_ && choice < (1u << bytes); ++choice) {
    FieldBits bits = others;
    int byte = 0;
    for (size_t f = 0; f < fields.size(); ++f) {
      uint32_t word = 0;
      for (int i = 0; i < bytes_per_value(*fields[f]); ++i, ++byte) {
        word |= uint32_t{(choice >> byte & 1u) != 0 ? pair.c : pair.b} << 8 * i;
      }
      bits[fields[f]->name] = word >> shifts[f] & mask_of(*fields[f]);
    }
    const auto value = format.combine(bits);
    complete_ = value && std::isfinite(*value) && choices_.emplace(*value, choice).second;
  }
  separation_ = separation();
  needed_ = separation_needed(arithmetic);
}

bool ValueTable::usable() const {
  return complete_ && separation_ >= needed_;
}

int64_t ValueTable::choice(double y) const {
  const auto near = [&](double value) {
    return std::abs(y - value) <= separation_ / 4 * std::abs(value);
  };
  auto above = choices_.lower_bound(y);
  if (above != choices_.end() && near(above->first)) return above->second;
  if (above != choices_.begin() && near((--above)->first)) return above->second;
  return -1;
}

double ValueTable::nearest(double y) const {
  const auto above = choices_.lower_bound(y);
  if (above == choices_.begin()) return above->first;
  const double below = std::prev(above)->first;
  return above == choices_.end() || y - below < above->first - y ? below : above->first;
}

/// The smallest relative distance of two neighbours.
double ValueTable::separation() const {
  double smallest = 1;
  for (auto it = choices_.begin(); it != choices_.end() && std::next(it) != choices_.end(); ++it) {
    const double next = std::next(it)->first;
    smallest =
        std::min(smallest, (next - it->first) / std::max(std::abs(next), std::abs(it->first)));
  }
  return smallest;
}

/// Activations lose a share of the largest of their line: the smallest value the most of its own.
double ValueTable::separation_needed(const Arithmetic& arithmetic) const {
  double smallest = 0, largest = 0;
  for (const auto& [value, choice] : choices_) {
    const double size = std::abs(value);
    largest = std::max(largest, size);
    if (size > 0) smallest = smallest == 0 ? size : std::min(smallest, size);
  }
  const double range = smallest > 0 ? largest / smallest : 1;
  return std::max(kSeparation, kOperandErrors * (arithmetic.operand_relative +
                                                 arithmetic.activation_floor * range));
}

Fill::Fill(const FormatOracle& format, std::vector<const Field*> fields, FieldBits others,
           const Arithmetic& arithmetic)
    : fields_(std::move(fields)) {
  for (uint64_t i = 0; !usable_ && i < kMostPairs; ++i) {
    const uint64_t bits = payload(fnv1a("fill"), i);
    pair_ = {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8)};
    usable_ = pair_.b != pair_.c && in_range(fields_, pair_) && tells_positions(fields_, pair_) &&
              try_pair(format, others, arithmetic);
  }
}

bool Fill::try_pair(const FormatOracle& format, const FieldBits& others,
                    const Arithmetic& arithmetic) {
  tables_.clear();
  for (const Shifts& shifts : all_shifts(fields_, {})) {
    ValueTable table(format, fields_, shifts, others, pair_, arithmetic);
    if (!table.usable()) return false;
    tables_.emplace(shifts, std::move(table));
  }
  return true;
}

}  // namespace planegate::gates
