#include "gates/tomography.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

#include "gates/fill.h"

namespace planegate::gates {
namespace {

constexpr const char* kWeights = "probed weights";
constexpr const char* kActivations = "probed activations";
/// Elements up to which every (line, k) is probed, and how many k beyond.
constexpr int64_t kWholeElems = int64_t{1} << 10;
constexpr size_t kSampledK = 64;
/// Groups of k, each of which takes a run per pass.
constexpr size_t kMostGroups = 8;

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

/// The k to probe, boundaries of the plane's modes first, at most `most` beyond those.
std::vector<int64_t> probed_k(const Contract& plane, const Shape& shape, int64_t tile_tokens,
                              uint64_t seed, size_t most) {
  std::vector<int64_t> ks;
  const auto add = [&](int64_t k) {
    const bool known = std::find(ks.begin(), ks.end(), k) != ks.end();
    if (k >= 0 && k < shape.id() && !known) ks.push_back(k);
  };
  add(0);
  add(shape.id() - 1);
  for (int64_t k = 1; k < shape.id(); k *= 2) add(k);
  for (const Field& field : plane.fields) {
    for (int i = 0; i < field.layout.n_modes; ++i) {
      const Mode& mode = field.layout.modes[i];
      if (mode.axis == Axis::kK) add(mode.div);
    }
  }
  const int64_t lines = plane.role == Role::kWeights ? shape.od() : tile_tokens;
  const bool whole = lines * shape.id() <= kWholeElems;
  most = std::max(ks.size(), std::min(most, whole ? static_cast<size_t>(shape.id()) : kSampledK));
  for (uint64_t i = 0; ks.size() < most; ++i) {
    add(whole ? static_cast<int64_t>(i)
              : static_cast<int64_t>(payload(seed, i) % static_cast<uint64_t>(shape.id())));
  }
  return ks;
}

/// One run of the consumer: which address bit decides between B and C, or their exchange.
struct Pass {
  int bit = 0;
  bool exchanged = false;
};

/// The observation of one plane.
class Observer {
 public:
  Observer(Context& context, const ConsumerSpec& consumer, const FieldUse& use, const Shape& shape)
      : context_(context),
        consumer_(consumer),
        plane_(*use.plane),
        fields_(fields_of(use)),
        of_weights_(use.plane->role == Role::kWeights),
        shape_(of_weights_ ? many_tokens(consumer, shape) : shape),
        store_(context.device),
        fill_(format_of(plane_.role), fields_, others(), consumer.arithmetic) {
    tomogram_.plane = &plane_;
    tomogram_.shape = shape_;
    for (const Field* field : fields_) {
      tomogram_.fields.push_back({field, {}});
      bound_.push_back(bind(field->layout, shape_));
    }
    const auto last = static_cast<uint64_t>(plane_.size_bytes(shape_) - 1);
    const int bits = std::max(1, static_cast<int>(std::bit_width(last)));
    for (int bit = 0; bit < bits; ++bit) passes_.push_back({bit, false});
    const bool sub_byte = std::any_of(fields_.begin(), fields_.end(),
                                      [](const Field* field) { return field->bits < 8; });
    if (sub_byte) passes_.push_back({0, true});
  }

  Tomogram run() {
    if (!fill_.usable()) {
      tomogram_.failure = "no pair of fill bytes tells all combinations of its fields apart";
      return std::move(tomogram_);
    }
    fill_constant_planes();
    // Each group takes as many k as there are one-hot lines of the other operand in one tile.
    const int64_t per_run =
        of_weights_ ? std::min(shape_.nt(), consumer_.tile_tokens) : shape_.od();
    const std::vector<int64_t> ks = probed_k(plane_, shape_, consumer_.tile_tokens, context_.seed,
                                             kMostGroups * static_cast<size_t>(per_run));
    for (size_t first = 0; first < ks.size() && tomogram_.failure.empty();
         first += static_cast<size_t>(per_run)) {
      const size_t last = std::min(ks.size(), first + static_cast<size_t>(per_run));
      probe({ks.begin() + static_cast<std::ptrdiff_t>(first),
             ks.begin() + static_cast<std::ptrdiff_t>(last)});
    }
    return std::move(tomogram_);
  }

 private:
  using Outputs = std::vector<std::vector<float>>;  // by pass, each (nt, od)
  using Offsets = std::vector<std::array<int64_t, 4>>;

  const FormatOracle& format_of(Role role) const {
    if (role == Role::kActivations) return context_.catalog.activations();
    const FormatOracle* format = context_.catalog.format(consumer_.format);
    if (format == nullptr) throw ContractError("format", consumer_.format, "not registered");
    return *format;
  }
  std::string tensor_of(const Contract& plane) const {
    return plane.role == Role::kWeights ? kWeights : kActivations;
  }
  bool beside(const FieldUse& use) const {
    return use.plane != &plane_ && use.plane->role == plane_.role;
  }

  /// Bits of the constant fill in all fields of the other planes of the probed role.
  FieldBits others() const {
    FieldBits bits;
    for (const FieldUse& use : consumer_.reads) {
      if (beside(use)) add_constant_bits(fields_of(use), bits);
    }
    return bits;
  }

  void fill_constant_planes() {
    for (const FieldUse& use : consumer_.reads) {
      if (!beside(use)) continue;
      const std::vector<std::byte> bytes(static_cast<size_t>(use.plane->size_bytes(shape_)),
                                         std::byte{constant_fill(fields_of(use))});
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
    return of_weights_ ? line % static_cast<size_t>(consumer_.tile_tokens) : line;
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
    Outputs outputs;
    std::vector<std::byte> fill(static_cast<size_t>(plane_.size_bytes(shape_)));
    for (const Pass& pass : passes_) {
      for (size_t at = 0; at < fill.size(); ++at) {
        const bool c = ((at >> pass.bit & 1) != 0) != pass.exchanged;
        fill[at] = std::byte{c ? fill_.pair().c : fill_.pair().b};
      }
      put(plane_, fill);
      ConsumerRun result = gates::run(context_, consumer_, store_, kWeights, kActivations, shape_);
      ++tomogram_.passes;
      tomogram_.failure = result.failure;
      if (!result.failure.empty()) return;
      outputs.push_back(std::move(result.y));
    }
    const int64_t lines = of_weights_ ? shape_.od() : shape_.nt();
    for (int64_t line = 0; line < lines && tomogram_.failure.empty(); ++line) {
      for (size_t column = 0; column < ks.size() && tomogram_.failure.empty(); ++column) {
        take({line, ks[column]}, column, outputs);
      }
    }
  }

  /// Adds what the outputs say of one probe, seen by one token or by two of different tiles.
  void take(const Probe& at, size_t column, const Outputs& outputs) {
    const std::optional<Offsets> offsets = decoded(at, column, outputs);
    if (!offsets) {
      const double value = element(outputs[0], at.line, column);
      fail(at, value,
           fmt::format("a value that no choice of bytes decodes to (the nearest: {})",
                       fill_.table(contract_shifts(at)).nearest(value)));
      return;
    }
    const size_t twin = column + static_cast<size_t>(consumer_.tile_tokens);
    if (of_weights_ && twin < static_cast<size_t>(shape_.nt()) &&
        decoded(at, twin, outputs) != offsets) {
      fail(at, element(outputs[0], at.line, twin), "and another one for a token of the next tile");
      return;
    }
    tomogram_.probes.push_back(at);
    for (size_t f = 0; f < fields_.size(); ++f) {
      tomogram_.fields[f].offset_bits.push_back((*offsets)[f]);
    }
  }

  void fail(const Probe& at, double value, const std::string& what) {
    tomogram_.failure =
        fmt::format("no map: at line {}, k {} the output is {} under fill {:02x}/{:02x}, {}",
                    at.line, at.k, value, fill_.pair().b, fill_.pair().c, what);
  }

  /// The offsets of all fields of a probe, at the contract's bit positions where those explain all
  /// passes, else at the first others that do.
  std::optional<Offsets> decoded(const Probe& at, size_t column, const Outputs& outputs) const {
    for (const Shifts& shifts : all_shifts(fields_, contract_shifts(at))) {
      if (auto offsets = decoded(shifts, at, column, outputs)) return offsets;
    }
    return std::nullopt;
  }

  Shifts contract_shifts(const Probe& at) const {
    Shifts shifts;
    for (size_t f = 0; f < fields_.size(); ++f) {
      const int64_t bits = offset_bits(fields_[f]->layout, bound_[f], at.line, at.k);
      shifts.push_back(static_cast<int>(bits % 8));
    }
    return shifts;
  }

  std::optional<Offsets> decoded(const Shifts& shifts, const Probe& at, size_t column,
                                 const Outputs& outputs) const {
    const ValueTable& table = fill_.table(shifts);
    Offsets offsets(fields_.size(), {0, 0, 0, 0});
    for (size_t p = 0; p < passes_.size(); ++p) {
      int64_t choice = table.choice(element(outputs[p], at.line, column));
      if (choice < 0) return std::nullopt;
      if (passes_[p].exchanged) choice = ~choice;
      for (size_t f = 0; f < fields_.size(); ++f) {
        for (int byte = 0; byte < bytes_per_value(*fields_[f]); ++byte, choice >>= 1) {
          int64_t& offset = offsets[f][static_cast<size_t>(byte)];
          if (passes_[p].exchanged && (offset >> 3 & 1) != (choice & 1)) return std::nullopt;
          if (!passes_[p].exchanged) offset |= (choice & 1) << (passes_[p].bit + 3);
        }
      }
    }
    for (size_t f = 0; f < fields_.size(); ++f) offsets[f][0] += shifts[f];
    return offsets;
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
  std::vector<BoundLayout> bound_;
  bool of_weights_;
  Shape shape_;
  PlaneStore store_;
  Fill fill_;
  std::vector<Pass> passes_;
  Tomogram tomogram_;
};

}  // namespace

Shape many_tokens(const ConsumerSpec& consumer, const Shape& shape) {
  for (const int64_t nt : {2 * consumer.tile_tokens, int64_t{8}, int64_t{1}}) {
    if (!consumer.refusal(shape.with_tokens(nt))) return shape.with_tokens(nt);
  }
  return shape;
}

Tomogram observe(Context& context, const ConsumerSpec& consumer, const FieldUse& use,
                 const Shape& shape) {
  return Observer(context, consumer, use, shape).run();
}

}  // namespace planegate::gates
