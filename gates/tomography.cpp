#include "gates/tomography.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

namespace planegate::gates {
namespace {

constexpr const char* kWeights = "probed weights";
constexpr const char* kActivations = "probed activations";
/// Elements up to which every (line, k) is probed, and how many k beyond.
constexpr int64_t kWholeElems = int64_t{1} << 10;
constexpr size_t kSampledK = 64;
/// Groups of k, each of which takes a run per pass.
constexpr size_t kMostGroups = 8;
/// Two outputs that stand for different addresses are at least this far apart, relatively: many
/// times what a few f32 roundings move them.
constexpr double kSeparation = 4e-6;
/// Constant fills of the planes beside the probed one.
constexpr uint8_t kConstants[] = {0x55, 0x11};

struct FillPair {
  uint8_t b = 0, c = 0;
};
constexpr FillPair kPairs[] = {{0x31, 0xEC}, {0x11, 0xEB}, {0x13, 0xE6}, {0x35, 0xC9},
                               {0x1D, 0xF2}, {0x07, 0xE9}, {0x2B, 0xD4}, {0x19, 0x66}};

int bytes_of(const Field& field) {
  return field.bits <= 8 ? 1 : field.bits / 8;
}

uint32_t mask_of(const Field& field) {
  return field.bits == 32 ? 0xFFFFFFFFu : (1u << field.bits) - 1u;
}

/// The fields of `use`, in the contract's order.
std::vector<const Field*> fields_of(const FieldUse& use) {
  std::vector<const Field*> fields;
  for (const Field& field : use.plane->fields) {
    if (std::find(use.fields.begin(), use.fields.end(), field.name) != use.fields.end()) {
      fields.push_back(&field);
    }
  }
  return fields;
}

/// Which element value stands for which choice of B and C in the bytes of a plane's fields, for
/// sub-byte values that start `shifts` bits above their byte.
class ValueTable {
 public:
  ValueTable(const FormatOracle& format, const std::vector<const Field*>& fields,
             const std::vector<int>& shifts, const FieldBits& others, FillPair pair) {
    int bytes = 0;
    for (const Field* field : fields) bytes += bytes_of(*field);
    for (uint32_t choice = 0; choice < (1u << bytes); ++choice) {
      FieldBits bits = others;
      int byte = 0;
      for (size_t f = 0; f < fields.size(); ++f) {
        uint32_t word = 0;
        for (int i = 0; i < bytes_of(*fields[f]); ++i, ++byte) {
          word |= uint32_t{(choice >> byte & 1u) != 0 ? pair.c : pair.b} << 8 * i;
        }
        bits[fields[f]->name] = word >> shifts[f] & mask_of(*fields[f]);
      }
      const auto value = format.combine(bits);
      if (value) choices_[*value] = choice;
      complete_ = complete_ && value && std::isfinite(*value);
    }
    complete_ = complete_ && choices_.size() == (size_t{1} << bytes);
    separation_ = separation();
  }

  bool usable() const { return complete_ && separation_ >= kSeparation; }

  /// The choice whose value is nearest to `y`; -1 where none is near.
  int64_t choice(double y) const {
    auto above = choices_.lower_bound(y);
    const auto near = [&](double value) { return std::abs(y - value) <= tolerance(value); };
    if (above != choices_.end() && near(above->first)) return above->second;
    if (above != choices_.begin() && near((--above)->first)) return above->second;
    return -1;
  }

 private:
  double tolerance(double value) const { return separation_ / 4 * std::abs(value); }
  /// The smallest relative distance of two neighbours.
  double separation() const {
    double smallest = 1;
    for (auto it = choices_.begin(); it != choices_.end() && std::next(it) != choices_.end();
         ++it) {
      const double next = std::next(it)->first;
      smallest =
          std::min(smallest, (next - it->first) / std::max(std::abs(next), std::abs(it->first)));
    }
    return smallest;
  }

  std::map<double, uint32_t> choices_;
  bool complete_ = true;
  double separation_ = 0;
};

/// A byte that is legal for all fields of 8 bits that carry integers.
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

/// A fill that is legal in all fields and gives every sub-byte value of a byte the same bits.
uint8_t constant_for(const std::vector<const Field*>& fields) {
  for (const uint8_t byte : kConstants) {
    const bool alike = std::all_of(fields.begin(), fields.end(), [&](const Field* field) {
      return field->bits >= 8 ||
             (byte >> field->bits & mask_of(*field)) == (byte & mask_of(*field));
    });
    if (alike && in_range(fields, {byte, byte})) return byte;
  }
  return kConstants[0];
}

/// The number of tokens to probe weights with: two tiles, or what the consumer takes.
int64_t probe_tokens(const ConsumerSpec& consumer, const Shape& shape) {
  for (const int64_t nt : {2 * kTokenTileTokens, int64_t{8}, int64_t{1}}) {
    if (!consumer.refusal(shape.with_tokens(nt))) return nt;
  }
  return shape.nt();
}

/// The k to probe, boundaries of the plane's modes first, at most `most` beyond those.
std::vector<int64_t> probed_k(const Contract& plane, const Shape& shape, uint64_t seed,
                              size_t most) {
  std::vector<int64_t> ks;
  const auto add = [&](int64_t k) {
    const bool known = std::find(ks.begin(), ks.end(), k) != ks.end();
    if (k >= 0 && k < shape.id() && !known) ks.push_back(k);
  };
  add(0);
  add(shape.id() - 1);
  for (const Field& field : plane.fields) {
    for (int i = 0; i < field.layout.n_modes; ++i) {
      const Mode& mode = field.layout.modes[i];
      if (mode.axis == Axis::kK) add(mode.div);
    }
  }
  const int64_t lines = plane.role == Role::kWeights ? shape.od() : kTokenTileTokens;
  const bool whole = lines * shape.id() <= kWholeElems;
  most = std::max(ks.size(), std::min(most, whole ? static_cast<size_t>(shape.id()) : kSampledK));
  for (uint64_t i = 0; ks.size() < most; ++i) {
    add(whole ? static_cast<int64_t>(i)
              : static_cast<int64_t>(payload(seed, i) % static_cast<uint64_t>(shape.id())));
  }
  return ks;
}

/// The observation of one plane.
class Observer {
 public:
  Observer(Context& context, const ConsumerSpec& consumer, const FieldUse& use, const Shape& shape)
      : context_(context),
        consumer_(consumer),
        plane_(*use.plane),
        fields_(fields_of(use)),
        of_weights_(use.plane->role == Role::kWeights),
        shape_(of_weights_ ? shape.with_tokens(probe_tokens(consumer, shape)) : shape),
        store_(context.device) {
    tomogram_.plane = &plane_;
    tomogram_.shape = shape_;
    for (const Field* field : fields_) tomogram_.fields.push_back({field, {}});
  }

  Tomogram run() {
    choose_fill();
    if (!tomogram_.failure.empty()) return std::move(tomogram_);
    fill_constant_planes();
    // Each group takes as many k as there are one-hot lines of the other operand in one tile.
    const int64_t per_run = of_weights_ ? std::min(shape_.nt(), kTokenTileTokens) : shape_.od();
    const std::vector<int64_t> ks =
        probed_k(plane_, shape_, context_.seed, kMostGroups * static_cast<size_t>(per_run));
    for (size_t first = 0; first < ks.size() && tomogram_.failure.empty();
         first += static_cast<size_t>(per_run)) {
      const size_t last = std::min(ks.size(), first + static_cast<size_t>(per_run));
      probe({ks.begin() + static_cast<std::ptrdiff_t>(first),
             ks.begin() + static_cast<std::ptrdiff_t>(last)});
    }
    return std::move(tomogram_);
  }

 private:
  const FormatOracle& format_of(Role role) const {
    for (const FormatOracle& format : context_.catalog.formats()) {
      const bool ours = role == Role::kActivations || format.format == consumer_.format;
      if (format.role == role && ours) return format;
    }
    throw ContractError("format", consumer_.format, "not registered");
  }
  const std::string tensor_of(const Contract& plane) const {
    return plane.role == Role::kWeights ? kWeights : kActivations;
  }

  /// Bits of the constant fill in all fields of the other planes of the probed role.
  FieldBits others() const {
    FieldBits bits;
    for (const FieldUse& use : consumer_.reads) {
      if (use.plane == &plane_ || use.plane->role != plane_.role) continue;
      const std::vector<const Field*> fields = fields_of(use);
      for (const Field* field : fields) {
        bits[field->name] = 0x01010101u * constant_for(fields) & mask_of(*field);
      }
    }
    return bits;
  }

  std::vector<int> shifts_at(int64_t line, int64_t k) const {
    std::vector<int> shifts;
    for (const Field* field : fields_) {
      const BoundLayout bound = bind(field->layout, shape_);
      shifts.push_back(static_cast<int>(offset_bits(field->layout, bound, line, k) % 8));
    }
    return shifts;
  }

  const ValueTable& table_at(int64_t line, int64_t k) {
    const std::vector<int> shifts = shifts_at(line, k);
    const auto found = tables_.find(shifts);
    if (found != tables_.end()) return found->second;
    return tables_
        .emplace(shifts, ValueTable(format_of(plane_.role), fields_, shifts, others(), pair_))
        .first->second;
  }

  void choose_fill() {
    for (const FillPair pair : kPairs) {
      pair_ = pair;
      tables_.clear();
      bool usable = in_range(fields_, pair);
      for (int64_t k = 0; usable && k < std::min<int64_t>(shape_.id(), kSuperBlockElems); ++k) {
        usable = table_at(0, k).usable();
      }
      if (usable) return;
    }
    tomogram_.failure = "no pair of fill bytes tells all combinations of its fields apart";
  }

  void fill_constant_planes() {
    for (const FieldUse& use : consumer_.reads) {
      if (use.plane == &plane_ || use.plane->role != plane_.role) continue;
      const std::vector<std::byte> bytes(static_cast<size_t>(use.plane->size_bytes(shape_)),
                                         std::byte{constant_for(fields_of(use))});
      store_.add(tensor_of(*use.plane), *use.plane, shape_, bytes);
    }
  }

  /// The planes of the other operand: 1 at (line, k of that line).
  void set_one_hot(const std::vector<int64_t>& ks) {
    const Role other = of_weights_ ? Role::kActivations : Role::kWeights;
    const int64_t lines = of_weights_ ? shape_.nt() : shape_.od();
    std::vector<int64_t> k_of_line(static_cast<size_t>(lines));
    for (size_t i = 0; i < k_of_line.size(); ++i) k_of_line[i] = ks[slot(i) % ks.size()];
    const FormatOracle& format = format_of(other);
    const std::vector<std::byte> bytes = format.one_hot(shape_, k_of_line);
    const RawTensor raw{"one-hot", format.format, shape_, bytes};
    for (const FieldUse& use : consumer_.reads) {
      if (use.plane->role != other) continue;
      SealedBytes mirror(use.plane->size_bytes(shape_));
      context_.catalog.mirror(*use.plane).write(raw, mirror.writable());
      put(*use.plane, mirror.bytes());
    }
  }

  /// Tokens of the second tile repeat the first.
  size_t slot(size_t line) const {
    return of_weights_ ? line % static_cast<size_t>(kTokenTileTokens) : line;
  }

  void put(const Contract& plane, std::span<const std::byte> bytes) {
    if (store_.find(tensor_of(plane), plane) == nullptr) {
      store_.add(tensor_of(plane), plane, shape_, bytes);
    } else {
      store_.replace(tensor_of(plane), plane, shape_, bytes);
    }
  }

  void probe(const std::vector<int64_t>& ks) {
    set_one_hot(ks);
    const size_t first = tomogram_.probes.size();
    const int64_t lines = of_weights_ ? shape_.od() : shape_.nt();
    for (int64_t line = 0; line < lines; ++line) {
      for (const int64_t k : ks) tomogram_.probes.push_back({line, k});
    }
    for (FieldAddresses& field : tomogram_.fields) {
      field.offset_bytes.resize(tomogram_.probes.size(), {0, 0, 0, 0});
    }
    const int64_t size = plane_.size_bytes(shape_);
    std::vector<std::byte> fill(static_cast<size_t>(size));
    const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(size - 1))));
    for (int bit = 0; bit < bits && tomogram_.failure.empty(); ++bit) {
      for (size_t at = 0; at < fill.size(); ++at) {
        fill[at] = std::byte{(at >> bit & 1) != 0 ? pair_.c : pair_.b};
      }
      put(plane_, fill);
      const ConsumerRun result =
          gates::run(context_, consumer_, store_, kWeights, kActivations, shape_);
      ++tomogram_.passes;
      if (!result.failure.empty()) {
        tomogram_.failure = result.failure;
      } else {
        read_bit(bit, result.y, ks, first);
      }
    }
  }

  /// Adds bit `bit` of every address from one output.
  void read_bit(int bit, const std::vector<float>& y, const std::vector<int64_t>& ks,
                size_t first) {
    const size_t columns =
        of_weights_ ? static_cast<size_t>(shape_.nt()) : static_cast<size_t>(shape_.od());
    for (size_t i = first; i < tomogram_.probes.size(); ++i) {
      const Probe& at = tomogram_.probes[i];
      const ValueTable& table = table_at(at.line, at.k);
      const size_t column = (i - first) % ks.size();
      const int64_t choice = table.choice(element(y, at.line, column));
      const size_t twin = column + static_cast<size_t>(kTokenTileTokens);
      const bool twice = of_weights_ && twin < columns;
      if (choice < 0 || (twice && table.choice(element(y, at.line, twin)) != choice)) {
        tomogram_.failure =
            fmt::format("no map: at line {}, k {} the output is {} under fill {:02x}/{:02x}, {}",
                        at.line, at.k, element(y, at.line, column), pair_.b, pair_.c,
                        choice < 0 ? "a value that no choice of bytes decodes to"
                                   : "and another one for a token of the next tile");
        return;
      }
      int byte = 0;
      for (FieldAddresses& field : tomogram_.fields) {
        for (int b = 0; b < field.bytes_per_value(); ++b, ++byte) {
          field.offset_bytes[i][static_cast<size_t>(b)] |= (choice >> byte & 1) << bit;
        }
      }
    }
  }

  /// y of the probed line beside the one-hot line `column` of the other operand.
  double element(const std::vector<float>& y, int64_t line, size_t column) const {
    const auto od = static_cast<size_t>(shape_.od());
    return of_weights_ ? y[column * od + static_cast<size_t>(line)]
                       : y[static_cast<size_t>(line) * od + column];
  }

  Context& context_;
  const ConsumerSpec& consumer_;
  const Contract& plane_;
  std::vector<const Field*> fields_;
  bool of_weights_;
  Shape shape_;
  PlaneStore store_;
  FillPair pair_;
  std::map<std::vector<int>, ValueTable> tables_;
  Tomogram tomogram_;
};

}  // namespace

Tomogram observe(Context& context, const ConsumerSpec& consumer, const FieldUse& use,
                 const Shape& shape) {
  return Observer(context, consumer, use, shape).run();
}

}  // namespace planegate::gates
