#include "fuzz/generator.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <rapidcheck.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

#include "fuzz/shapes.h"

namespace planegate::fuzz {
namespace {

constexpr int64_t kTileLines = 64;
constexpr std::array<std::byte, 4> kFills = {std::byte{0xA5}, std::byte{0x5A}, std::byte{0x00},
                                             std::byte{0xFF}};
constexpr std::array<Schedule::Order, 3> kOrders = {
    Schedule::Order::kAscending, Schedule::Order::kDescending, Schedule::Order::kRandom};
constexpr uint64_t kLattices = 4;
constexpr int64_t kMaxSeed = int64_t{1} << 20;

int64_t tiles(int64_t lines) {
  return (lines + kTileLines - 1) / kTileLines;
}

template <size_t N, class Taken>
std::vector<int64_t> values(const char* axis, const std::array<int64_t, N>& all, int64_t max,
                            Taken taken) {
  std::vector<int64_t> kept;
  for (const int64_t value : all) {
    if (value <= max && taken(value)) kept.push_back(value);
  }
  require(!kept.empty(), axis, max, "a size of the sweep that a chosen consumer takes");
  return kept;
}

/// Draws one case: numbers are hashes of seed, case and place.
class Draw {
 public:
  Draw(uint64_t seed, int64_t number) : seed_(seed), number_(static_cast<uint64_t>(number)) {}

  uint64_t below(uint64_t n) { return (payload(seed_, number_, place_++) >> 32) * n >> 32; }
  /// Leans to small indices: the smaller of two.
  uint64_t small_below(uint64_t n) {
    const uint64_t one = below(n);
    return std::min(one, below(n));
  }
  template <class T, size_t N>
  T one_of(const std::array<T, N>& all) {
    return all[below(N)];
  }
  /// `kSample` as often as everything else together.
  std::string data(const std::vector<std::string>& names) {
    const bool sample = names.size() == 1 || below(2) == 0;
    return sample ? names.front() : names[1 + below(names.size() - 1)];
  }

 private:
  uint64_t seed_, number_, place_ = 0;
};

/// The size that case `number` holds fixed.
struct Pivot {
  size_t axis = 0;
  size_t index = 0;
};

Pivot pivot_of(int64_t number, const std::array<const std::vector<int64_t>*, 3>& axes) {
  const auto n = static_cast<size_t>(number);
  const size_t size = axes[n % 3]->size();
  // Values in turn, but far apart, so that short runs see large ones as well.
  size_t step = std::max<size_t>(1, size * 5 / 8);
  while (std::gcd(step, size) != 1) ++step;
  return {n % 3, n / 3 % size * step % size};
}

std::vector<std::string> data_names(const FormatOracle& format) {
  std::vector<std::string> names = {kSample};
  for (const Extreme& extreme : format.extremes) names.push_back(extreme.name);
  return names;
}

/// What shrinking an index gives, as values of a sorted list; a size that is not listed has none.
std::vector<int64_t> smaller_values(const std::vector<int64_t>& sorted, int64_t value) {
  const auto found = std::find(sorted.begin(), sorted.end(), value);
  std::vector<int64_t> out;
  if (found == sorted.end()) return out;
  auto shrinks = rc::shrink::towards<int64_t>(found - sorted.begin(), 0);
  while (const auto index = shrinks.next()) out.push_back(sorted[static_cast<size_t>(*index)]);
  return out;
}

}  // namespace

Generator::Generator(const Catalog& catalog, std::string format,
                     const std::vector<std::string>& consumers, const Limits& limits, uint64_t seed)
    : format_(std::move(format)), max_tiles_(limits.max_tiles), seed_(seed) {
  const FormatOracle* oracle = catalog.format(format_);
  if (oracle == nullptr) throw ContractError("format", format_, "not registered");
  weights_ = data_names(*oracle);
  activations_ = data_names(catalog.activations());
  for (const ConsumerSpec& consumer : catalog.consumers()) {
    const bool named = consumers.empty() || std::find(consumers.begin(), consumers.end(),
                                                      consumer.name) != consumers.end();
    if (named && consumer.format == format_) consumers_.push_back(&consumer);
  }
  const auto taken = [&](const Shape& shape) { return !this->consumers(shape).empty(); };
  od_ = values("max od", kOd, limits.max_od,
               [&](int64_t od) { return taken(Shape(od, kSuperBlockElems, 1)); });
  nsb_ = values("max nsb", kNsb, limits.max_nsb,
                [&](int64_t nsb) { return taken(Shape(1, nsb * kSuperBlockElems, 1)); });
  nt_ = values("max nt", kNt, limits.max_nt,
               [&](int64_t nt) { return taken(Shape(1, kSuperBlockElems, nt)); });
}

std::vector<const ConsumerSpec*> Generator::consumers(const Shape& shape) const {
  std::vector<const ConsumerSpec*> taking;
  for (const ConsumerSpec* consumer : consumers_) {
    if (!consumer->refusal(shape)) taking.push_back(consumer);
  }
  return taking;
}

Case Generator::at(int64_t number) const {
  const std::array<const std::vector<int64_t>*, 3> axes = {&od_, &nsb_, &nt_};
  const Pivot pivot = pivot_of(number, axes);
  Draw draw(seed_, number);
  std::array<int64_t, 3> size{};
  const auto fits = [&] { return tiles(size[0]) * size[1] * tiles(size[2]) <= max_tiles_; };
  // The smallest others always fit; a draw that does not is made anew.
  for (bool done = false; !done; done = fits()) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const std::vector<int64_t>& values = *axes[axis];
      size[axis] = values[axis == pivot.axis ? pivot.index : draw.small_below(values.size())];
    }
  }
  Case c{format_, Shape(size[0], size[1] * kSuperBlockElems, size[2]), 1, {}};
  c.seed = 1 + draw.below(kMaxSeed);
  c.knobs.weights = draw.data(weights_);
  c.knobs.activations = draw.data(activations_);
  c.knobs.lattice = static_cast<int>(draw.below(kLattices));
  c.knobs.guard = draw.one_of(kFills);
  c.knobs.pad = draw.one_of(kFills);
  c.knobs.order = draw.one_of(kOrders);
  return c;
}

std::vector<Case> Generator::smaller(const Case& c) const {
  std::vector<Case> all;
  const auto with = [&](int64_t od, int64_t id, int64_t nt) {
    all.push_back(c);
    all.back().shape = Shape(od, id, nt);
  };
  const Shape& shape = c.shape;
  for (const int64_t nt : smaller_values(nt_, shape.nt())) with(shape.od(), shape.id(), nt);
  for (const int64_t od : smaller_values(od_, shape.od())) with(od, shape.id(), shape.nt());
  for (const int64_t nsb : smaller_values(nsb_, shape.nsb())) {
    with(shape.od(), nsb * kSuperBlockElems, shape.nt());
  }
  const auto with_knob = [&](auto member) {
    const Knobs plain;
    if (c.knobs.*member == plain.*member) return;
    all.push_back(c);
    all.back().knobs.*member = plain.*member;
  };
  with_knob(&Knobs::weights);
  with_knob(&Knobs::activations);
  with_knob(&Knobs::lattice);
  with_knob(&Knobs::guard);
  with_knob(&Knobs::pad);
  with_knob(&Knobs::order);
  if (c.seed != 1) {
    all.push_back(c);
    all.back().seed = 1;
  }
  return all;
}

rc::Shrinkable<Case> Generator::shrinkable(const Case& c) const {
  return rc::shrinkable::shrinkRecur(Case(c), [generator = *this](const Case& from) {
    return rc::seq::fromContainer(generator.smaller(from));
  });
}

rc::Gen<Case> Generator::any() const {
  return rc::Gen<Case>([this](const rc::Random& random, int) {
    rc::Random source(random);
    return shrinkable(at(static_cast<int64_t>(source.next() >> 33)));
  });
}

}  // namespace planegate::fuzz
