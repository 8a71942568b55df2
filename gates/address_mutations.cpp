#include "gates/address_mutations.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "gates/explain.h"

namespace planegate::gates {
namespace {

bool same_expression(const FlatLayout& a, const FlatLayout& b) {
  const auto equal_term = [](const FlatLayout::Term& x, const FlatLayout::Term& y) {
    return x.axis == y.axis && x.div == y.div && x.mod == y.mod && x.stride_bits == y.stride_bits;
  };
  return a.base_bits == b.base_bits && a.swizzle == b.swizzle &&
         std::equal(a.terms, a.terms + a.n_terms, b.terms, b.terms + b.n_terms, equal_term);
}

class Mutations {
 public:
  Mutations(const Catalog& catalog, const Contract& plane, const Field& field, const Shape& shape)
      : catalog_(catalog),
        plane_(plane),
        field_(field),
        shape_(shape),
        contract_(flatten(field.layout, shape)),
        contract_map_(map_of(contract_)) {}

  std::vector<AddressMutation> all() {
    for (int i = 0; i < contract_.n_terms; ++i) {
      siblings(i);
      move(i, "one value more", field_.bits);
      move(i, "one value less", -field_.bits);
      move(i, "16 bytes more", 8 * 16);
      move(i, "16 bytes less", -8 * 16);
      if (i + 1 < contract_.n_terms) exchange(i);
      restride(i, "dropped", [](const FlatLayout&, const Shape&) { return int64_t{0}; });
    }
    for (int i = 0; i < contract_.n_terms; ++i) redigit(i);
    if (contract_.swizzle.bits != 0) {
      add("swizzle off", [](FlatLayout& layout, const Shape&) { layout.swizzle = {}; },
          {{"without the contract's swizzle"}});
    }
    return std::move(all_);
  }

 private:
  using Change = std::function<void(FlatLayout&, const Shape&)>;
  using StrideBits = std::function<int64_t(const FlatLayout&, const Shape&)>;

  const char* mode(int i) const { return field_.layout.modes[i].name; }

  void siblings(int i) {
    for (const Contract* other : catalog_.planes()) {
      if (other->role != plane_.role || other->name == plane_.name) continue;
      for (const Field& field : other->fields) {
        for (int m = 0; m < field.layout.n_modes; ++m) {
          if (std::string(field.layout.modes[m].name) != mode(i)) continue;
          restride(i, "of " + other->name,
                   [bits = field.layout.modes[m].stride_bits](
                       const FlatLayout&, const Shape& shape) { return evaluate(bits, shape); });
        }
      }
    }
  }

  void move(int i, const char* what, int64_t by_bits) {
    restride(i, what, [=](const FlatLayout& layout, const Shape&) {
      return layout.terms[i].stride_bits + by_bits;
    });
  }

  void restride(int i, const std::string& what, const StrideBits& stride_bits) {
    add(fmt::format("{} stride {} ({} bits)", mode(i), what, stride_bits(contract_, shape_)),
        [=](FlatLayout& layout, const Shape& shape) {
          layout.terms[i].stride_bits = stride_bits(layout, shape);
        },
        {stride_words(i, stride_bits(contract_, shape_))});
  }

  /// How a diagnosis may spell another stride of term `i`.
  std::vector<std::string> stride_words(int i, int64_t bits) const {
    const int64_t plane_bits = 8 * plane_.size_bytes(shape_);
    const int64_t around = (bits % plane_bits + plane_bits) % plane_bits;
    std::vector<std::string> spellings;
    for (const int64_t same : {bits, around, around - plane_bits}) {
      spellings.push_back(fmt::format("{} stride {}{}, contract {} (", mode(i), bits_text(same),
                                      same == 0 ? " (the term is missing)" : "",
                                      bits_text(contract_.terms[i].stride_bits)));
    }
    return spellings;
  }

  void exchange(int i) {
    add(fmt::format("{} and {} strides exchanged", mode(i), mode(i + 1)),
        [=](FlatLayout& layout, const Shape&) {
          std::swap(layout.terms[i].stride_bits, layout.terms[i + 1].stride_bits);
        },
        {stride_words(i, contract_.terms[i + 1].stride_bits),
         stride_words(i + 1, contract_.terms[i].stride_bits)});
  }

  void redigit(int i) {
    const auto change = [&](const char* what, int64_t FlatLayout::Term::*value, bool twice) {
      const int64_t v = contract_.terms[i].*value;
      if (v == 0 || (!twice && v % 2 != 0)) return;
      FlatLayout::Term term = contract_.terms[i];
      term.*value = twice ? v * 2 : v / 2;
      add(fmt::format("{} {} {}", mode(i), what, twice ? "doubled" : "halved"),
          [=](FlatLayout& layout, const Shape&) {
            int64_t& changed = layout.terms[i].*value;
            changed = twice ? changed * 2 : changed / 2;
          },
          {{fmt::format("{} digit {}, contract {}", mode(i), digit_text(term),
                        digit_text(contract_.terms[i]))}});
    };
    change("div", &FlatLayout::Term::div, true);
    change("div", &FlatLayout::Term::div, false);
    change("mod", &FlatLayout::Term::mod, true);
    change("mod", &FlatLayout::Term::mod, false);
  }

  void add(std::string name, const Change& change, std::vector<std::vector<std::string>> terms) {
    const auto layout = [=, contract = field_.layout](const Shape& shape) {
      FlatLayout changed = flatten(contract, shape);
      change(changed, shape);
      return changed;
    };
    const FlatLayout here = layout(shape_);
    const std::vector<int64_t> map = map_of(here);
    const bool unchanged = map == contract_map_;
    if (same_expression(here, contract_) || (!unchanged && !maps_.insert(map).second)) return;
    if (!names_.insert(name).second) return;
    all_.push_back({std::move(name), layout, std::move(terms), unchanged});
  }

  /// The bit address of every (line, k), taken around the plane's end.
  std::vector<int64_t> map_of(const FlatLayout& layout) const {
    const int64_t lines = plane_.role == Role::kWeights ? shape_.od() : shape_.nt();
    const int64_t plane_bits = 8 * plane_.size_bytes(shape_);
    std::vector<int64_t> map;
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t k = 0; k < shape_.id(); ++k) {
        const int64_t bits = layout.offset_bits(line, k) % plane_bits;
        map.push_back(bits < 0 ? bits + plane_bits : bits);
      }
    }
    return map;
  }

  const Catalog& catalog_;
  const Contract& plane_;
  const Field& field_;
  const Shape& shape_;
  FlatLayout contract_;
  std::vector<int64_t> contract_map_;
  std::set<std::vector<int64_t>> maps_;
  std::set<std::string> names_;
  std::vector<AddressMutation> all_;
};

}  // namespace

std::vector<AddressMutation> address_mutations(const Catalog& catalog, const Contract& plane,
                                               const Field& field, const Shape& shape) {
  return Mutations(catalog, plane, field, shape).all();
}

}  // namespace planegate::gates
