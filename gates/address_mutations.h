#pragma once

#include <functional>
#include <string>
#include <vector>

#include <planegate/core/catalog.h>
#include <planegate/core/flat_layout.h>

namespace planegate::gates {

/// One address expression with one thing wrong.
struct AddressMutation {
  std::string name;  ///< `row stride of padded (3584 bits)`
  std::function<FlatLayout(const Shape&)> layout;
  /// What a diagnosis must say of it, one of each: `row stride 448, contract 512 (`, or
  /// `e digit k/1 mod 128, contract k/1 mod 64`. Strides that differ by the plane's size are one
  /// map where addresses are taken around its end.
  std::vector<std::vector<std::string>> terms;
  /// At the shape asked for, the map equals the contract's for every (line, k), addresses taken
  /// around the plane's end.
  bool equivalent = false;
};

/// Every way to get `field`'s address expression wrong by one term, for each of its modes: the
/// stride of that name of every sibling plane; one value more or less; 16 bytes more or less; the
/// stride of the next mode, exchanged; the term dropped; div or mod doubled or halved; and the
/// swizzle off. Changes that give one map at this shape are one fault, listed once.
/// Siblings are the catalog's planes of the same role.
std::vector<AddressMutation> address_mutations(const Catalog& catalog, const Contract& plane,
                                               const Field& field, const Shape& shape);

}  // namespace planegate::gates
