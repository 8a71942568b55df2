#include "gates/explain.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planegate/core/flat_layout.h>

#include "gates/fill.h"

namespace planegate::gates {
namespace {

constexpr int64_t kBitsPerByte = 8;
/// A map must account for this share of the probes by addresses inside the plane.
constexpr size_t kLeastShare = 4;
/// By which powers of two a digit's div or mod may be off.
constexpr int64_t kMostFactor = 16;

/// `byte 448`, `byte 448 bit 4`.
std::string place_text(int64_t bits) {
  const int64_t bit = bits % kBitsPerByte;
  return fmt::format("byte {}{}", bits / kBitsPerByte, bit == 0 ? "" : fmt::format(" bit {}", bit));
}

/// One byte of a field's values: where it was read, and where the contract has it.
struct Observations {
  const Tomogram& tomogram;
  const Field& field;
  std::vector<int64_t> have;  ///< bit offset by probe
  int64_t byte_bits = 0;      ///< of this byte inside the value
  int64_t plane_bits = 0;

  const std::vector<Probe>& probes() const { return tomogram.probes; }
  FlatLayout contract() const {
    FlatLayout flat = flatten(field.layout, tomogram.shape);
    flat.base_bits += byte_bits;
    return flat;
  }
};

/// Whether `layout` gives every observed address, but for those that leave the plane.
bool explains(const Observations& seen, const FlatLayout& layout) {
  size_t matched = 0;
  for (size_t i = 0; i < seen.have.size(); ++i) {
    const Probe& at = seen.probes()[i];
    const int64_t bits = layout.offset_bits(at.line, at.k);
    const bool inside = bits >= 0 && bits < seen.plane_bits;
    if (inside && bits != seen.have[i]) return false;
    // Outside, a reader that wraps around is recognised, any other is unseen.
    if ((bits - seen.have[i]) % seen.plane_bits == 0) ++matched;
  }
  return matched * kLeastShare >= seen.have.size();
}

std::vector<int64_t> digits(const FlatLayout& layout, const Probe& at) {
  std::vector<int64_t> all;
  for (int i = 0; i < layout.n_terms; ++i) {
    const FlatLayout::Term& term = layout.terms[i];
    const int64_t digit = (term.axis == Axis::kK ? at.k : at.line) / term.div;
    all.push_back(term.mod == 0 ? digit : digit % term.mod);
  }
  return all;
}

/// The value of `digit` when every other digit is 0; nullopt where another one is not.
std::optional<int64_t> alone(const std::vector<int64_t>& all, size_t digit) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != digit && all[i] != 0) return std::nullopt;
  }
  return all[digit];
}

/// The commonest step of one digit; nullopt for a digit that no probe moves alone. Steps that leave
/// the plane are taken as the shorter way round.
std::optional<int64_t> stride_of(const std::map<int64_t, int64_t>& offset_by_digit,
                                 int64_t plane_bits) {
  std::map<int64_t, int> votes;
  for (auto it = offset_by_digit.begin(); it != offset_by_digit.end(); ++it) {
    const auto next = std::next(it);
    if (next == offset_by_digit.end()) break;
    int64_t step = (next->second - it->second) % plane_bits;
    const int64_t digits_apart = next->first - it->first;
    if (step % digits_apart != 0) continue;
    if (digits_apart == 1 && offset_by_digit.size() > 2) {
      if (2 * step > plane_bits) step -= plane_bits;
      if (2 * step < -plane_bits) step += plane_bits;
    }
    ++votes[step / digits_apart];
  }
  std::optional<int64_t> best;
  for (const auto& [step, count] : votes) {
    if (!best || count > votes[*best]) best = step;
  }
  return best;
}

/// The strides along `digits_of`'s terms that explain the observations, if there are any. A digit
/// that no probe moves alone keeps the stride that it has there.
std::optional<FlatLayout> fit(const Observations& seen, FlatLayout layout) {
  std::vector<std::map<int64_t, int64_t>> by_digit(static_cast<size_t>(layout.n_terms));
  for (size_t i = 0; i < seen.have.size(); ++i) {
    const Probe& at = seen.probes()[i];
    const int64_t have = layout.swizzle.apply(seen.have[i] / kBitsPerByte) * kBitsPerByte +
                         seen.have[i] % kBitsPerByte;
    if (at.line == 0 && at.k == 0) layout.base_bits = have;
    const std::vector<int64_t> all = digits(layout, at);
    for (size_t digit = 0; digit < by_digit.size(); ++digit) {
      if (const auto value = alone(all, digit)) by_digit[digit].emplace(*value, have);
    }
  }
  for (size_t digit = 0; digit < by_digit.size(); ++digit) {
    if (const auto stride = stride_of(by_digit[digit], seen.plane_bits)) {
      layout.terms[digit].stride_bits = *stride;
    }
  }
  return explains(seen, layout) ? std::optional(layout) : std::nullopt;
}

/// `; it is the row stride of plane padded (nsb*224)`
std::string owner(const Catalog& catalog, const Contract& plane, const std::string& mode,
                  int64_t stride_bits, const Shape& shape) {
  for (const Contract* other : catalog.planes()) {
    if (other->role != plane.role || other->name == plane.name) continue;
    for (const Field& field : other->fields) {
      for (int i = 0; i < field.layout.n_modes; ++i) {
        const Mode& candidate = field.layout.modes[i];
        if (candidate.name == mode && evaluate(candidate.stride_bits, shape) == stride_bits) {
          return fmt::format("; it is the {} stride of plane {} ({})", mode, other->name,
                             text_of_bits(candidate.stride_bits));
        }
      }
    }
  }
  return "";
}

/// The terms in which a map along the plane's own digits differs from its contract.
std::vector<std::string> stride_terms(const Catalog& catalog, const Observations& seen,
                                      const FlatLayout& found) {
  const FlatLayout wanted = seen.contract();
  std::vector<std::string> said;
  if (found.base_bits != wanted.base_bits) {
    said.push_back(fmt::format("base {}, contract {}", bits_text(found.base_bits),
                               bits_text(wanted.base_bits)));
  }
  for (int i = found.n_terms - 1; i >= 0; --i) {
    const Mode& mode = seen.field.layout.modes[i];
    const int64_t stride = found.terms[i].stride_bits;
    if (stride == wanted.terms[i].stride_bits) continue;
    said.push_back(
        fmt::format("{} stride {}{}, contract {} ({}){}", mode.name, bits_text(stride),
                    stride == 0 ? " (the term is missing)" : "",
                    bits_text(wanted.terms[i].stride_bits), text_of_bits(mode.stride_bits),
                    owner(catalog, *seen.tomogram.plane, mode.name, stride, seen.tomogram.shape)));
  }
  return said;
}

/// `e digit k/1 mod 128, contract k/1 mod 64`
std::string other_digit_text(const char* name, const FlatLayout::Term& have,
                             const FlatLayout::Term& want) {
  return fmt::format("{} digit {}, contract {}", name, digit_text(have), digit_text(want));
}

/// `term` with its div, its mod, or both (which keeps div * mod) other powers of two.
std::vector<FlatLayout::Term> other_digits(const FlatLayout::Term& term) {
  std::vector<FlatLayout::Term> all;
  const auto add = [&](int64_t div, int64_t mod) {
    if (div <= 0 || (mod <= 0 && term.mod != 0)) return;
    all.push_back({term.axis, div, mod, term.stride_bits});
  };
  for (int64_t factor = 2; factor <= kMostFactor; factor *= 2) {
    const int64_t less_div = term.div % factor == 0 ? term.div / factor : 0;
    const int64_t less_mod = term.mod % factor == 0 ? term.mod / factor : 0;
    add(term.div * factor, term.mod);
    add(less_div, term.mod);
    if (term.mod == 0) continue;
    add(term.div, term.mod * factor);
    add(term.div, less_mod);
    add(term.div * factor, less_mod);
    add(less_div, term.mod * factor);
  }
  return all;
}

/// The terms of the contract with one digit changed, other strides included; empty where that
/// explains nothing.
std::vector<std::string> digit_terms(const Catalog& catalog, const Observations& seen) {
  std::vector<std::string> best;
  const FlatLayout wanted = seen.contract();
  for (int i = wanted.n_terms - 1; i >= 0; --i) {
    for (const FlatLayout::Term& term : other_digits(wanted.terms[i])) {
      FlatLayout layout = wanted;
      layout.terms[i] = term;
      const bool alone = explains(seen, layout);
      const std::optional<FlatLayout> found = alone ? std::optional(layout) : fit(seen, layout);
      if (!found) continue;
      std::vector<std::string> said = {
          other_digit_text(seen.field.layout.modes[i].name, term, wanted.terms[i])};
      for (std::string& stride : stride_terms(catalog, seen, *found)) {
        said.push_back(std::move(stride));
      }
      if (best.empty() || said.size() < best.size()) best = std::move(said);
    }
  }
  return best;
}

/// `row:512  half:-128  e:1  @128`
std::string expression(const FlatLayout& layout, const Layout& names) {
  std::string out;
  for (int i = layout.n_terms - 1; i >= 0; --i) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : "  ", names.modes[i].name,
                       bits_text(layout.terms[i].stride_bits));
  }
  return layout.base_bits == 0 ? out : out + fmt::format("  @{}", bits_text(layout.base_bits));
}

std::string joined(const std::vector<std::string>& terms) {
  return fmt::format("{}", fmt::join(terms, "; "));
}

/// The terms along the contract's own digits that explain a map; nullopt where none do.
std::optional<std::string> own_terms(const Catalog& catalog, const Observations& seen) {
  std::vector<std::string> strides;
  if (const auto found = fit(seen, seen.contract())) strides = stride_terms(catalog, seen, *found);
  const std::vector<std::string> digits = digit_terms(catalog, seen);
  if (strides.empty() && digits.empty()) return std::nullopt;
  if (strides.empty()) return joined(digits);
  // Only a digit alone is as simple as strides are.
  if (digits.size() != 1) return joined(strides);
  const bool digit_first = strides.size() > 1;
  return fmt::format("{}; the same map at this shape: {}", joined(digit_first ? digits : strides),
                     joined(digit_first ? strides : digits));
}

/// The contract's digits under another swizzle, none included.
std::optional<std::string> swizzle_terms(const Catalog& catalog, const Observations& seen) {
  const FlatLayout contract = seen.contract();
  const Swizzle wanted = contract.swizzle;
  if (wanted.bits == 0) return std::nullopt;
  std::vector<Swizzle> others = {{}};
  for (const int step : {-1, 1}) {
    others.push_back({wanted.bits, wanted.base, wanted.shift + step});
    others.push_back({wanted.bits, wanted.base + step, wanted.shift});
    others.push_back({wanted.bits + step, wanted.base, wanted.shift});
  }
  for (const Swizzle& other : others) {
    FlatLayout layout = contract;
    layout.swizzle = other;
    const auto found = fit(seen, layout);
    if (!found) continue;
    std::vector<std::string> said = {
        other.bits == 0
            ? "strided without the contract's swizzle"
            : fmt::format("swizzle xor<{},{},{}>, contract xor<{},{},{}>", other.bits, other.base,
                          other.shift, wanted.bits, wanted.base, wanted.shift)};
    for (std::string& term : stride_terms(catalog, seen, *found)) said.push_back(std::move(term));
    return joined(said);
  }
  return std::nullopt;
}

/// What explains a map that differs from the contract; nullopt where nothing does.
std::optional<std::string> explanation_of(const Catalog& catalog, const Observations& seen) {
  if (auto own = own_terms(catalog, seen)) return own;
  if (auto swizzled = swizzle_terms(catalog, seen)) return swizzled;
  for (const Contract* other : catalog.planes()) {
    if (other->role != seen.tomogram.plane->role || other->name == seen.tomogram.plane->name) {
      continue;
    }
    for (const Field& candidate : other->fields) {
      if (const auto found = fit(seen, flatten(candidate.layout, seen.tomogram.shape))) {
        return fmt::format("{}: strided along the digits of plane {}, field {}",
                           expression(*found, candidate.layout), other->name, candidate.name);
      }
    }
  }
  return std::nullopt;
}

/// Whether a probe tells one value of this digit from another.
bool varies(const FlatLayout& layout, size_t term, const std::vector<Probe>& probes) {
  return std::any_of(probes.begin(), probes.end(), [&](const Probe& at) {
    return digits(layout, at)[term] != digits(layout, probes.front())[term];
  });
}

/// `tile`, or `e of sc` where only some of the fields with that mode leave it unseen.
std::string undetermined_modes(const Tomogram& tomogram) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> unseen_in;
  std::map<std::string, size_t> fields_with;
  for (const FieldAddresses& field : tomogram.fields) {
    const Layout& layout = field.field->layout;
    const FlatLayout flat = flatten(layout, tomogram.shape);
    for (int i = layout.n_modes - 1; i >= 0; --i) {
      const std::string name = layout.modes[i].name;
      if (fields_with[name]++ == 0) names.push_back(name);
      if (!varies(flat, static_cast<size_t>(i), tomogram.probes)) {
        unseen_in[name].emplace_back(field.field->name);
      }
    }
  }
  std::vector<std::string> said;
  for (const std::string& name : names) {
    const std::vector<std::string>& fields = unseen_in[name];
    if (fields.empty()) continue;
    const bool everywhere = fields.size() == fields_with[name];
    said.push_back(everywhere ? name : fmt::format("{} of {}", name, fmt::join(fields, " and ")));
  }
  return fmt::format("{}", fmt::join(said, ", "));
}

Observations observations(const Tomogram& tomogram, const FieldAddresses& field, int byte) {
  Observations seen{tomogram,
                    *field.field,
                    {},
                    byte * kBitsPerByte,
                    tomogram.plane->size_bytes(tomogram.shape) * kBitsPerByte};
  for (const auto& offsets : field.offset_bits) {
    seen.have.push_back(offsets[static_cast<size_t>(byte)]);
  }
  return seen;
}

/// The probes at which an address differs from the contract's.
std::vector<size_t> differing_probes(const Observations& seen) {
  const FlatLayout contract = seen.contract();
  std::vector<size_t> differing;
  for (size_t i = 0; i < seen.have.size(); ++i) {
    const Probe& at = seen.probes()[i];
    if (contract.offset_bits(at.line, at.k) != seen.have[i]) differing.push_back(i);
  }
  return differing;
}

std::string first_text(const Observations& seen, size_t probe) {
  const Probe& at = seen.probes()[probe];
  return fmt::format(
      "{} of {} {}, k {}: read at {}, contract {}", seen.field.name,
      seen.tomogram.plane->role == Role::kWeights ? "row" : "token", at.line, at.k,
      place_text(seen.have[probe]),
      place_text(seen.contract().offset_bits(at.line, at.k)).substr(std::string("byte ").size()));
}

}  // namespace

std::string bits_text(int64_t bits) {
  return bits % kBitsPerByte == 0 ? std::to_string(bits / kBitsPerByte) : fmt::format("{}b", bits);
}

std::string digit_text(const FlatLayout::Term& term) {
  return fmt::format("{}/{}{}", term.axis == Axis::kK ? "k" : "line", term.div,
                     term.mod == 0 ? "" : fmt::format(" mod {}", term.mod));
}

Explanation explain(const Tomogram& tomogram, const Catalog& catalog) {
  Explanation explanation;
  for (const FieldAddresses& field : tomogram.fields) {
    for (int byte = 0; byte < bytes_per_value(*field.field); ++byte) {
      const Observations seen = observations(tomogram, field, byte);
      const std::vector<size_t> differing = differing_probes(seen);
      if (!differing.empty() && explanation.differing == 0) {
        explanation.first = first_text(seen, differing.front());
        const auto terms = explanation_of(catalog, seen);
        explanation.explained = terms.has_value();
        explanation.sentence = fmt::format(
            "{} of {}: {}", seen.field.name, tomogram.plane->name,
            terms.value_or(fmt::format("{}; first break at {}", kNoStridedMap, explanation.first)));
      }
      explanation.compared += static_cast<int64_t>(tomogram.probes.size());
      explanation.differing += static_cast<int64_t>(differing.size());
    }
  }
  explanation.undetermined = undetermined_modes(tomogram);
  return explanation;
}

}  // namespace planegate::gates
