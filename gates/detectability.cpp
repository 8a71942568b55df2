#include "gates/detectability.h"

#include <algorithm>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

#include "gates/compare.h"

namespace planegate::gates {
namespace {

/// One value of a plane.
struct Place {
  const Contract* plane = nullptr;
  const Field* field = nullptr;
  int64_t line = 0;
  int64_t k = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

std::string text(const Place& place) {
  const bool weights = place.plane->role == Role::kWeights;
  const bool integer =
      place.field->encoding == Encoding::kUnsigned || place.field->encoding == Encoding::kSigned;
  return fmt::format("{} {} of {} {}, k {} off by one{}", place.plane->name, place.field->name,
                     weights ? "row" : "token", place.line, place.k, integer ? "" : " ulp");
}

/// The first value of a field, a hash-chosen one and the last; fewer where these coincide.
void add_places(const Contract& plane, const Field& field, const Shape& shape, uint64_t seed,
                std::vector<Place>& places) {
  const int64_t lines = plane.role == Role::kWeights ? shape.od() : shape.nt();
  const int64_t elems = elems_per_value(field);
  const int64_t values = shape.id() / elems;
  const uint64_t drawn = payload(seed, fnv1a(plane.name), fnv1a(field.name));
  const auto line = static_cast<int64_t>((drawn >> 32) % static_cast<uint64_t>(lines));
  const auto value = static_cast<int64_t>((drawn & 0xFFFFFFFF) % static_cast<uint64_t>(values));
  for (const Place& place :
       {Place{&plane, &field, 0, 0}, Place{&plane, &field, line, value * elems},
        Place{&plane, &field, lines - 1, (values - 1) * elems}}) {
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
}

std::vector<Place> places_of(const ConsumerSpec& consumer, const Shape& shape, uint64_t seed) {
  std::vector<Place> places;
  for (const FieldUse& use : consumer.reads) {
    for (const Field& field : use.plane->fields) {
      const auto named = std::find(use.fields.begin(), use.fields.end(), field.name);
      if (named != use.fields.end()) add_places(*use.plane, field, shape, seed, places);
    }
  }
  return places;
}

uint32_t bits_at(std::span<const std::byte> bytes, int64_t offset_bits, int bits) {
  uint32_t value = 0;
  for (int i = bits - 1; i >= 0; --i) {
    const int64_t at = offset_bits + i;
    const auto byte = static_cast<uint32_t>(bytes[static_cast<size_t>(at / 8)]);
    value = value << 1 | (byte >> (at % 8) & 1);
  }
  return value;
}

void set_bits(std::span<std::byte> bytes, int64_t offset_bits, int bits, uint32_t value) {
  for (int i = 0; i < bits; ++i) {
    const int64_t at = offset_bits + i;
    const std::byte bit = std::byte{1} << (at % 8);
    std::byte& byte = bytes[static_cast<size_t>(at / 8)];
    byte = (value >> i & 1) != 0 ? byte | bit : byte & ~bit;
  }
}

/// The bits of the value above, or below where there is none above.
uint32_t neighbour(const Field& field, uint32_t bits) {
  const uint32_t infinity = field.encoding == Encoding::kF16 ? 0x7C00u : 0x7F800000u;
  switch (field.encoding) {
    case Encoding::kUnsigned:
      return bits < static_cast<uint32_t>(field.max) ? bits + 1 : bits - 1;
    case Encoding::kSigned: {
      const int unused = 32 - field.bits;
      const int32_t value = static_cast<int32_t>(bits << unused) >> unused;
      return static_cast<uint32_t>(value < field.max ? value + 1 : value - 1);
    }
    case Encoding::kF16:
    case Encoding::kF32:
      return ((bits + 1) & infinity) == infinity ? bits - 1 : bits + 1;
  }
  return bits;
}

void put_off_by_one(const Place& place, const Shape& shape, std::span<std::byte> plane) {
  const Field& field = *place.field;
  const int64_t at = offset_bits(field.layout, bind(field.layout, shape), place.line, place.k);
  set_bits(plane, at, field.bits, neighbour(field, bits_at(plane, at, field.bits)));
}

/// `whole`, then 0 in the last row of the last token.
LaunchFn without_tail(LaunchFn whole) {
  return [whole = std::move(whole)](Device& device, const LaunchRequest& request) {
    whole(device, request);
    std::vector<float> y(static_cast<size_t>(request.shape.nt() * request.shape.od()));
    device.read_back(*request.y, std::as_writable_bytes(std::span(y)));
    device.synchronise();
    y.back() = 0;
    device.upload(*request.y, std::as_bytes(std::span(y)));
    device.synchronise();
  };
}

/// One consumer's faults on one dataset after the other.
class Planting {
 public:
  Planting(Context& context, const ConsumerSpec& consumer, const Shape& shape,
           const JudgingParts& parts, const std::function<void(const std::string&)>& on_stage)
      : context_(context),
        consumer_(consumer),
        shape_(shape),
        parts_(parts),
        on_stage_(on_stage),
        weights_(*context.catalog.format(consumer.format)),
        activations_(context.catalog.activations()),
        places_(places_of(consumer, shape, context.seed)) {
    result_.consumer = consumer.name;
    result_.shape = shape;
    result_.device = context.device.name();
    for (const Place& place : places_) result_.faults.push_back({text(place), false, {}, false});
    result_.faults.push_back(
        {fmt::format("tail: row {} of token {} left 0", shape.od() - 1, shape.nt() - 1),
         false,
         {},
         false});
  }

  Detectability run() {
    for (const Lattice& lattice : lattices(shape_)) {
      Dataset dataset = make_dataset(context_, shape_, lattice, weights_, activations_);
      if (!dataset.exact()) continue;
      result_.lattices.push_back(lattice.name);
      plant_all(
          dataset,
          [&](const ConsumerSpec& consumer) { return parts_.lattice(context_, consumer, dataset); },
          [&](PlantedFault& fault) { fault.lattices.push_back(lattice.name); });
    }
    Dataset sampled = sampled_data();
    plant_all(
        sampled,
        [&](const ConsumerSpec& consumer) {
          return parts_.bound(context_, consumer, sampled, gates::run(context_, consumer, sampled));
        },
        [](PlantedFault& fault) { fault.bound = true; });
    if (!result_.failure.empty()) result_.faults.clear();
    return std::move(result_);
  }

 private:
  Dataset sampled_data() {
    std::vector<std::byte> weights(static_cast<size_t>(weights_.size_bytes(shape_)));
    weights_.sample(shape_, context_.seed, weights);
    const std::vector<float> x = sample_activations(shape_, context_.seed);
    const RawTensor f32{"x", "f32", shape_, std::as_bytes(std::span(x))};
    return Dataset(context_, fmt::format("sample, seed {}", context_.seed), shape_, weights_,
                   SealedBytes::copy_of(weights), activations_,
                   SealedBytes::copy_of(activations_.quantise(f32)));
  }

  /// Judges the consumer on `dataset` without a fault and then with each; calls `seen` for those
  /// that turn the judgement red.
  template <class Judge, class Seen>
  void plant_all(Dataset& dataset, const Judge& judge, const Seen& seen) {
    if (!result_.failure.empty()) return;
    dataset.ensure_planes(consumer_);
    stage(dataset, "no fault");
    const GateReport clean = judge(consumer_);
    if (clean.verdict != Verdict::kPass) {
      result_.failure = fmt::format(
          "{} does not pass on right planes ({}): what turns red after a fault means nothing",
          clean.gate, clean.diagnosis.empty() ? clean.reason : clean.diagnosis);
      return;
    }
    for (size_t i = 0; i < places_.size(); ++i) {
      plant(dataset, places_[i], result_.faults[i], judge, seen);
    }
    plant_tail(dataset, judge, seen);
  }

  template <class Judge, class Seen>
  void plant(Dataset& dataset, const Place& place, PlantedFault& fault, const Judge& judge,
             const Seen& seen) {
    stage(dataset, fault.text);
    const SealedBytes mirror = dataset.mirror(*place.plane);
    std::vector<std::byte> faulty(mirror.bytes().begin(), mirror.bytes().end());
    put_off_by_one(place, shape_, faulty);
    fault.mirror = compare_bytes(*place.plane, shape_, mirror.bytes(), faulty).count > 0;
    const std::string& tensor = dataset.tensor_of(*place.plane);
    dataset.store().replace(tensor, *place.plane, shape_, faulty);
    if (judge(consumer_).verdict == Verdict::kFail) seen(fault);
    dataset.store().replace(tensor, *place.plane, shape_, mirror.bytes());
  }

  template <class Judge, class Seen>
  void plant_tail(Dataset& dataset, const Judge& judge, const Seen& seen) {
    PlantedFault& fault = result_.faults.back();
    stage(dataset, fault.text);
    const DeviceKind kind = context_.device.kind();
    ConsumerSpec faulty = consumer_;
    faulty.launches = {{kind, without_tail(consumer_.launch_on(kind))}};
    if (judge(faulty).verdict == Verdict::kFail) seen(fault);
  }

  void stage(const Dataset& dataset, const std::string& what) {
    if (on_stage_) on_stage_(fmt::format("{}: {}: {}", consumer_.name, dataset.text(), what));
  }

  Context& context_;
  const ConsumerSpec& consumer_;
  Shape shape_;
  const JudgingParts& parts_;
  const std::function<void(const std::string&)>& on_stage_;
  const FormatOracle& weights_;
  const FormatOracle& activations_;
  std::vector<Place> places_;
  Detectability result_;
};

/// `a; b; c`
template <class Chosen>
std::string names_of(const std::vector<PlantedFault>& faults, const Chosen& chosen) {
  std::string out;
  for (const PlantedFault& fault : faults) {
    if (chosen(fault)) out += (out.empty() ? "" : "; ") + fault.text;
  }
  return out;
}

}  // namespace

bool Detectability::complete() const {
  return !faults.empty() && std::all_of(faults.begin(), faults.end(),
                                        [](const PlantedFault& fault) { return fault.judged(); });
}

std::string Detectability::sentence() const {
  if (!failure.empty()) return failure;
  const auto count = [&](const auto& chosen) {
    return std::count_if(faults.begin(), faults.end(), chosen);
  };
  std::string out = fmt::format(
      "of {} faults lattice sees {} and bound {} (mirror: the {} that are bytes of a plane)",
      faults.size(), count([](const PlantedFault& fault) { return !fault.lattices.empty(); }),
      count([](const PlantedFault& fault) { return fault.bound; }),
      count([](const PlantedFault& fault) { return fault.mirror; }));
  if (lattices.empty()) out += "; no lattice is exact at this id";
  const std::string unseen = names_of(faults, [](const auto& fault) { return !fault.judged(); });
  return out + (unseen.empty() ? "; each is seen by a part that judges" : "; NOT SEEN: " + unseen);
}

Detectability detectability(Context& context, const ConsumerSpec& consumer, const Shape& shape,
                            const JudgingParts& parts,
                            const std::function<void(const std::string&)>& on_stage) {
  if (const auto broken = consumer.refusal(shape)) {
    throw ContractError("shape", shape.text(), consumer.name + " needs " + *broken);
  }
  if (const auto nowhere = context.device.refusal(consumer)) {
    throw ContractError("consumer", consumer.name, *nowhere);
  }
  return Planting(context, consumer, shape, parts, on_stage).run();
}

}  // namespace planegate::gates
