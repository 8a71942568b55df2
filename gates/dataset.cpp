#include "gates/dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

namespace planegate::gates {
namespace {

constexpr int64_t kExactLimit = int64_t{1} << 24;

/// f16 holds the product of a code and a scale exactly up to here; some consumers multiply that.
constexpr int64_t kExactProduct = int64_t{1} << 11;

/// What the factors beside `taken` may multiply to, so that id terms stay below 2^24.
int64_t room(const Shape& shape, int64_t taken) {
  return std::max<int64_t>(1, (kExactLimit - 1) / shape.id() / taken);
}

}  // namespace

Dataset::Dataset(Context& context, std::string text, const RawTensor& weights,
                 const FormatOracle& activation_format, std::vector<std::byte> activations)
    : context_(context),
      text_(std::move(text)),
      own_weights_(0),
      own_activations_(SealedBytes::copy_of(activations)),
      weight_format_(context.catalog.format(weights.format)),
      activation_format_(&activation_format),
      weights_(weights),
      activations_{"x of " + weights.name, activation_format.format, weights.shape,
                   own_activations_.bytes()},
      store_(context.device) {
  if (weight_format_ == nullptr) throw ContractError("format", weights.format, "not registered");
}

Dataset::Dataset(Context& context, std::string text, const Shape& shape,
                 const FormatOracle& weight_format, SealedBytes weights,
                 const FormatOracle& activation_format, SealedBytes activations)
    : context_(context),
      text_(std::move(text)),
      own_weights_(std::move(weights)),
      own_activations_(std::move(activations)),
      weight_format_(&weight_format),
      activation_format_(&activation_format),
      weights_{text_, weight_format.format, shape, own_weights_.bytes()},
      activations_{"x of " + text_, activation_format.format, shape, own_activations_.bytes()},
      store_(context.device) {}

SealedBytes Dataset::mirror(const Contract& plane) const {
  SealedBytes bytes = unsealed_mirror(plane);
  bytes.seal();
  return bytes;
}

SealedBytes Dataset::unsealed_mirror(const Contract& plane) const {
  SealedBytes bytes(plane.size_bytes(shape()));
  const bool of_weights = plane.role == Role::kWeights;
  context_.catalog.mirror(plane).write(of_weights ? weights_ : activations_, bytes.writable());
  return bytes;
}

void Dataset::ensure_planes(const ConsumerSpec& consumer, std::byte guard_fill) {
  for (const FieldUse& use : consumer.reads) {
    (void)ensure_plane(*use.plane, guard_fill);
  }
  context_.device.synchronise();
}

const StoredPlane& Dataset::ensure_plane(const Contract& plane, std::byte guard_fill) {
  const std::string& tensor = tensor_of(plane);
  if (const StoredPlane* stored = store_.find(tensor, plane)) return *stored;
  return store_.add(tensor, plane, shape(), mirror(plane).bytes(), guard_fill);
}

const oracle::Terms& Dataset::terms(int64_t exact_elems) {
  const auto known = terms_.find(exact_elems);
  if (known != terms_.end()) return known->second;
  return terms_
      .emplace(exact_elems, oracle::add_up(*weight_format_, weights_, *activation_format_,
                                           activations_, exact_elems))
      .first->second;
}

Expected Dataset::reference(const Arithmetic& arithmetic) {
  const oracle::Terms& sums = terms(arithmetic.exact_elems);
  const int64_t additions = arithmetic.additions_at(shape());
  const bool known = bound_ && bound_of_.exact_elems == arithmetic.exact_elems &&
                     bound_of_.roundings_per_term == arithmetic.roundings_per_term &&
                     bound_of_.operand_relative == arithmetic.operand_relative &&
                     bound_of_.activation_floor == arithmetic.activation_floor &&
                     bound_additions_ == additions;
  if (!known) {
    bound_ = oracle::bounds_of(sums, *weight_format_, weights_, *activation_format_, activations_,
                               arithmetic);
    bound_of_ = arithmetic;
    bound_additions_ = additions;
  }
  return {sums.y, *bound_, sums.magnitude};
}

std::span<const double> Dataset::exact_y() {
  if (!terms_.empty()) return terms_.begin()->second.y;
  return terms(std::gcd(weight_format_->scale_elems, activation_format_->scale_elems)).y;
}

bool Dataset::exact() {
  if (!exact_) {
    exact_ = oracle::exact_in_f32(*weight_format_, weights_, *activation_format_, activations_);
  }
  return *exact_;
}

std::vector<float> sample_activations(const Shape& shape, uint64_t seed) {
  std::vector<float> x(static_cast<size_t>(shape.nt() * shape.id()));
  const int64_t id = shape.id();
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const uint64_t bits = payload(seed, fnv1a("activations"), static_cast<uint64_t>(i / id),
                                  static_cast<uint64_t>(i % id));
    // The sum of four uniform 16-bit numbers is close to normal; one value in 256 is an outlier.
    int64_t sum = 0;
    for (int part = 0; part < 4; ++part) sum += static_cast<int64_t>(bits >> (16 * part) & 0xFFFF);
    const float normal = static_cast<float>(sum - 2 * 65535) / 37837.0f;
    x[static_cast<size_t>(i)] = mix(bits) % 256 == 0 ? normal * 12.0f : normal;
  }
  return x;
}

std::vector<Lattice> lattices(const Shape& shape) {
  const auto root = [](int64_t n) {
    return static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  };
  const auto spread = [&](int64_t taken, int64_t& a, int64_t& b) {
    const int64_t left = room(shape, taken);
    a = std::max<int64_t>(1, root(left));
    b = std::max<int64_t>(1, left / a);
  };
  Lattice codes{"codes", {32, 1, false, 0}, {1, 1, false, 0}};
  Lattice scales{"scales", {1, 128, false, 0}, {1, 1, false, 0}};
  Lattice activations{"activations", {1, 1, false, 0}, {128, 1, false, 0}};
  Lattice powers{"powers of two", {1, 1, true, 2}, {1, 1, true, 2}};
  spread(codes.weights.code, codes.activations.code, codes.weights.scale);
  spread(scales.weights.scale, scales.activations.code, scales.weights.code);
  spread(activations.activations.code, activations.weights.code, activations.weights.scale);
  const auto cut = [](int64_t& factor, int64_t other) {
    factor = std::min(factor, kExactProduct / other);
  };
  cut(codes.weights.scale, codes.weights.code);
  cut(scales.weights.code, scales.weights.scale);
  cut(activations.weights.scale, std::min<int64_t>(activations.weights.code, 32));
  constexpr int64_t kWindows = 4 * 4;
  const int64_t left = std::max<int64_t>(1, static_cast<int64_t>(std::cbrt(room(shape, kWindows))));
  powers.weights.code = std::min<int64_t>(left, 32);
  powers.weights.scale = std::min<int64_t>({left, 128, kExactProduct / powers.weights.code});
  powers.activations.code = std::min<int64_t>(left, 128);
  return {codes, scales, activations, powers};
}

Dataset make_dataset(Context& context, const Shape& shape, const Lattice& lattice,
                     const FormatOracle& weight_format, const FormatOracle& activation_format) {
  const uint64_t seed = payload(context.seed, fnv1a(lattice.name));
  const auto drawn = [&](const FormatOracle& format, const LatticeRanges& ranges) {
    SealedBytes bytes(format.size_bytes(shape));
    format.lattice(shape, seed, ranges, bytes.writable());
    bytes.seal();
    return bytes;
  };
  return Dataset(context, fmt::format("lattice of {}, seed {}", lattice.name, context.seed), shape,
                 weight_format, drawn(weight_format, lattice.weights), activation_format,
                 drawn(activation_format, lattice.activations));
}

}  // namespace planegate::gates
