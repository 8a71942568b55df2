#pragma once

#include <string>
#include <vector>

#include <rapidcheck/Gen.h>
#include <rapidcheck/Shrinkable.h>

#include <planegate/core/catalog.h>

#include "fuzz/case.h"

namespace planegate::fuzz {

/// Which part of the sweep is drawn from.
struct Limits {
  int64_t max_od = 257;
  int64_t max_nsb = 74;
  int64_t max_nt = 256;
  /// Bound of ceil(od/64) * nsb * ceil(nt/64), tiles of a million multiply-adds: large values are
  /// joined with small others. The largest od <= 257, nsb <= 8 and nt <= 130 still meet.
  int64_t max_tiles = 120;
};

/// Cases by number: case i depends on the seed and i alone.
///
/// Stratified: case i holds one value of one axis fixed, axes in turn and their values in turn, and
/// draws the others, leaning to small ones, so that the product stays below max_tiles. Thus every
/// value of od, nsb and nt occurs in at least 1 % of many cases (fuzz_unit draws 20,000).
class Generator {
 public:
  /// Consumers by name; none: all of `format`. Sizes that none of them takes are left out.
  /// @throws ContractError where no size of an axis is left.
  Generator(const Catalog& catalog, std::string format, const std::vector<std::string>& consumers,
            const Limits& limits, uint64_t seed);

  Case at(int64_t number) const;
  /// Those of the consumers that take the shape.
  std::vector<const ConsumerSpec*> consumers(const Shape& shape) const;

  const std::vector<int64_t>& od() const { return od_; }
  const std::vector<int64_t>& nsb() const { return nsb_; }
  const std::vector<int64_t>& nt() const { return nt_; }
  uint64_t seed() const { return seed_; }

  /// A case with its shrinks: smaller sizes of the lists, plain knobs, seed 1.
  rc::Shrinkable<Case> shrinkable(const Case& c) const;
  /// Any case, for properties. The generator must outlive it.
  rc::Gen<Case> any() const;

 private:
  std::vector<Case> smaller(const Case& c) const;

  std::string format_;
  std::vector<const ConsumerSpec*> consumers_;
  std::vector<std::string> weights_, activations_;  ///< names of data
  std::vector<int64_t> od_, nsb_, nt_;
  int64_t max_tiles_;
  uint64_t seed_;
};

}  // namespace planegate::fuzz
