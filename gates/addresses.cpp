#include "gates/addresses.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace planegate::gates {
namespace {

constexpr int64_t kBitsPerByte = 8;

std::string line_name(const Contract& plane) {
  return plane.role == Role::kWeights ? "row" : "token";
}

int64_t contract_byte(const Field& field, const BoundLayout& bound, const Probe& at, int byte) {
  return offset_bits(field.layout, bound, at.line, at.k) / kBitsPerByte + byte;
}

/// The digits of a probe along a layout's modes.
std::vector<int64_t> digits(const Layout& layout, const Probe& at) {
  std::vector<int64_t> all;
  for (int i = 0; i < layout.n_modes; ++i) {
    const Mode& mode = layout.modes[i];
    const int64_t coordinate = (mode.axis == Axis::kK ? at.k : at.line) / mode.div;
    all.push_back(mode.outermost() ? coordinate : coordinate % mode.extent.factor);
  }
  return all;
}

/// Strides in bytes along a layout's digits; nullopt for a digit that no probe moves alone.
struct Fit {
  int64_t base = 0;
  std::vector<std::optional<int64_t>> strides;
};

bool moves_alone(const std::vector<int64_t>& digit, size_t mode) {
  for (size_t i = 0; i < digit.size(); ++i) {
    if ((digit[i] != 0) != (i == mode)) return false;
  }
  return true;
}

/// The strided map along `layout`'s digits that explains every observed offset, if there is one.
/// Offsets are unswizzled by `swizzle` first.
std::optional<Fit> fit(const Layout& layout, const std::vector<Probe>& probes,
                       const std::vector<int64_t>& offsets, Swizzle swizzle) {
  std::vector<std::vector<int64_t>> digit;
  for (const Probe& at : probes) digit.push_back(digits(layout, at));
  Fit found;
  found.strides.resize(static_cast<size_t>(layout.n_modes));
  for (size_t i = 0; i < probes.size(); ++i) {
    if (probes[i].line == 0 && probes[i].k == 0) found.base = swizzle.apply(offsets[i]);
  }
  for (size_t mode = 0; mode < found.strides.size(); ++mode) {
    for (size_t i = 0; i < probes.size() && !found.strides[mode]; ++i) {
      if (!moves_alone(digit[i], mode)) continue;
      const int64_t drift = swizzle.apply(offsets[i]) - found.base;
      if (drift % digit[i][mode] != 0) return std::nullopt;
      found.strides[mode] = drift / digit[i][mode];
    }
  }
  for (size_t i = 0; i < probes.size(); ++i) {
    int64_t offset = found.base;
    for (size_t mode = 0; mode < found.strides.size(); ++mode) {
      offset += digit[i][mode] * found.strides[mode].value_or(0);
    }
    if (offset != swizzle.apply(offsets[i])) return std::nullopt;
  }
  return found;
}

/// `; it is the row stride of plane padded (nsb*224)`
std::string owner(const Catalog& catalog, const Contract& plane, const std::string& mode,
                  int64_t stride_bytes, const Shape& shape) {
  for (const Contract* other : catalog.planes()) {
    if (other->role != plane.role || other->name == plane.name) continue;
    for (const Field& field : other->fields) {
      for (int i = 0; i < field.layout.n_modes; ++i) {
        const Mode& candidate = field.layout.modes[i];
        if (candidate.name == mode &&
            evaluate(candidate.stride_bits, shape) == stride_bytes * kBitsPerByte) {
          return fmt::format("; it is the {} stride of plane {} ({})", mode, other->name,
                             text_of_bits(candidate.stride_bits));
        }
      }
    }
  }
  return "";
}

/// The terms in which a fit along the plane's own digits differs from its contract.
std::string terms(const Catalog& catalog, const Tomogram& tomogram, const Field& field,
                  const Fit& found, int byte) {
  const BoundLayout bound = bind(field.layout, tomogram.shape);
  std::vector<std::string> said;
  const int64_t base = contract_byte(field, bound, {0, 0}, byte);
  if (found.base != base) said.push_back(fmt::format("base {}, contract {}", found.base, base));
  for (int i = field.layout.n_modes - 1; i >= 0; --i) {
    const Mode& mode = field.layout.modes[i];
    const auto& stride = found.strides[static_cast<size_t>(i)];
    const int64_t wanted = bound.stride_bits[i] / kBitsPerByte;
    if (!stride || *stride == wanted) continue;
    said.push_back(
        fmt::format("{} stride {}, contract {} ({}){}", mode.name, *stride, wanted,
                    text_of_bits(mode.stride_bits),
                    owner(catalog, *tomogram.plane, mode.name, *stride, tomogram.shape)));
  }
  return fmt::format("{}", fmt::join(said, "; "));
}

std::vector<int64_t> offsets_of(const FieldAddresses& field, int byte) {
  std::vector<int64_t> offsets;
  for (const auto& bytes : field.offset_bytes) offsets.push_back(bytes[static_cast<size_t>(byte)]);
  return offsets;
}

/// One sentence on a field whose map differs from the contract.
std::string sentence(const Catalog& catalog, const Tomogram& tomogram, const FieldAddresses& field,
                     int byte, const std::string& first) {
  const std::vector<int64_t> offsets = offsets_of(field, byte);
  const Layout& own = field.field->layout;
  if (const auto found = fit(own, tomogram.probes, offsets, own.swizzle)) {
    return terms(catalog, tomogram, *field.field, *found, byte);
  }
  if (own.swizzle.bits != 0 && fit(own, tomogram.probes, offsets, {})) {
    return "strided without the contract's swizzle";
  }
  for (const Contract* other : catalog.planes()) {
    if (other->role != tomogram.plane->role || other->name == tomogram.plane->name) continue;
    for (const Field& candidate : other->fields) {
      if (fit(candidate.layout, tomogram.probes, offsets, candidate.layout.swizzle)) {
        return fmt::format("strided along the digits of plane {}, field {}: {}", other->name,
                           candidate.name, text(candidate.layout));
      }
    }
  }
  return "no strided map; first break at " + first;
}

std::string undetermined_modes(const Tomogram& tomogram) {
  std::vector<std::string> names;
  for (const FieldAddresses& field : tomogram.fields) {
    for (int i = field.field->layout.n_modes - 1; i >= 0; --i) {
      const Mode& mode = field.field->layout.modes[i];
      const bool known = std::find(names.begin(), names.end(), mode.name) != names.end();
      if (evaluate(mode.extent, tomogram.shape) == 1 && !known) names.emplace_back(mode.name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Explanation explain(const Tomogram& tomogram, const Catalog& catalog) {
  Explanation explanation;
  for (const FieldAddresses& field : tomogram.fields) {
    const BoundLayout bound = bind(field.field->layout, tomogram.shape);
    for (int byte = 0; byte < field.bytes_per_value(); ++byte) {
      const bool first_of_all = explanation.differing == 0;
      int64_t differing = 0;
      for (size_t i = 0; i < tomogram.probes.size(); ++i) {
        const Probe& at = tomogram.probes[i];
        const int64_t have = field.offset_bytes[i][static_cast<size_t>(byte)];
        const int64_t want = contract_byte(*field.field, bound, at, byte);
        if (have == want) continue;
        if (first_of_all && differing == 0) {
          explanation.first =
              fmt::format("{} of {} {}, k {}: read at byte {}, contract {}", field.field->name,
                          line_name(*tomogram.plane), at.line, at.k, have, want);
        }
        ++differing;
      }
      explanation.compared += static_cast<int64_t>(tomogram.probes.size());
      explanation.differing += differing;
      if (first_of_all && differing > 0) {
        explanation.sentence =
            fmt::format("{} of {}: {}", field.field->name, tomogram.plane->name,
                        sentence(catalog, tomogram, field, byte, explanation.first));
      }
    }
  }
  explanation.undetermined = undetermined_modes(tomogram);
  return explanation;
}

GateReport addresses(Context& context, const ConsumerSpec& consumer, const std::string& tensor,
                     const Shape& shape) {
  GateReport report = started(context, "addresses", consumer.name, tensor, shape);
  report.unit = "addresses";
  std::vector<FieldUse> planes = consumer.reads;
  std::stable_partition(planes.begin(), planes.end(),
                        [](const FieldUse& use) { return use.plane->role == Role::kWeights; });
  for (const FieldUse& use : planes) {
    if (use.plane->role == Role::kActivations && report.difference.count > 0) {
      // One-hot weights that are read elsewhere show nothing of the activations.
      report.notes.push_back(use.plane->name + " was not probed: its probes are weights");
      continue;
    }
    const Tomogram tomogram = observe(context, consumer, use, shape);
    if (!tomogram.failure.empty()) {
      report.verdict = Verdict::kFail;
      report.diagnosis = fmt::format("{}: {}", use.plane->name, tomogram.failure);
      return report;
    }
    const Explanation explanation = explain(tomogram, context.catalog);
    report.compared += explanation.compared;
    if (!explanation.undetermined.empty()) {
      report.notes.push_back(fmt::format("undetermined at this shape, {}: {}", use.plane->name,
                                         explanation.undetermined));
    }
    if (explanation.differing == 0) continue;
    report.difference.count += explanation.differing;
    if (report.difference.first.empty()) {
      report.difference.first = explanation.first;
      report.diagnosis = explanation.sentence;
    }
  }
  return judged(std::move(report));
}

}  // namespace planegate::gates
