#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <planegate/core/contract.h>

namespace planegate {

class Device;
class DeviceBuffer;
enum class DeviceKind : uint8_t;

/// A tensor as it came: encoded lines, nothing rewritten. A view; the owner keeps the bytes.
///
/// Weights (q6_K): od lines of id elements. Activations: nt lines of id elements, format `f32`
/// (as the model makes them) or `q8_0` (quantised: 34 bytes per 32 elements).
struct RawTensor {
  std::string name;
  std::string format;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// Writes every byte of a plane, padding included, from a raw tensor.
/// @pre plane.size() == contract.size_bytes(raw.shape); raw.bytes has the format's size.
/// @throws ContractError when a precondition does not hold; the plane is then untouched.
using PlaneWriter = std::function<void(const RawTensor& raw, std::span<std::byte> plane)>;

/// A host transform under test: raw tensor of format `from` -> plane.
struct ProducerSpec {
  std::string name;
  std::string from;
  const Contract* plane = nullptr;
  PlaneWriter write;
};

/// The oracle's prediction of a plane's bytes. `from` is q6_K for weights, q8_0 for activations.
struct MirrorSpec {
  std::string from;
  const Contract* plane = nullptr;
  PlaneWriter write;
};

/// Ranges of a synthetic payload in which every f32 partial sum is exact.
struct LatticeRanges {
  int64_t code = 1;     ///< largest |code|, cut at the format's own range
  int64_t scale = 1;    ///< largest |scale|, at least 1; ignored by formats without integer scales
  bool scaled = false;  ///< false: d = 1. true: d = +-2^e, e over all of f16, or 0
  int window = 0;       ///< scaled: exponents of one line lie within `window` of each other
};

/// Where a tensor holds a scale that is NaN or infinite.
struct NonFiniteScale {
  int64_t line = 0;
  int64_t block = 0;  ///< super-block for weights, chunk for activations
  uint16_t f16_bits = 0;
};

/// Values by field name, each at the bottom of a word.
using FieldBits = std::map<std::string, uint32_t>;

/// A content at the edge of what a format can hold.
struct Extreme {
  std::string name;  ///< `all codes 63`, `mixed`
  /// A whole tensor of it, encoded; all scales are finite.
  std::function<std::vector<std::byte>(const Shape&)> tensor;
};

/// What the oracle knows of one encoded format; everything else is derived from these.
struct FormatOracle {
  std::string format;
  Role role = Role::kWeights;
  /// Encoded size of a whole tensor. @throws ContractError when id does not fit the format.
  std::function<int64_t(const Shape&)> size_bytes;
  /// The exact values of a line's elements k, k+1, ... @pre all scales finite; k and the number of
  /// values are multiples of what one block encodes.
  std::function<void(const RawTensor&, int64_t line, int64_t k, std::span<double> values)>
      dequantise;
  /// A synthetic tensor: hash(seed, coordinates) within `ranges`, encoded.
  std::function<void(const Shape&, uint64_t seed, const LatticeRanges&, std::span<std::byte>)>
      lattice;
  std::function<std::optional<NonFiniteScale>(const RawTensor&)> first_non_finite;
  /// Weights only: fills a tensor with codes, sub-scales and scales as a quantiser leaves them,
  /// hash(seed, coordinates), every byte. @pre bytes.size() == size_bytes(shape)
  std::function<void(const Shape&, uint64_t seed, std::span<std::byte> bytes)> sample;
  /// Activations only: f32 -> this format, by the definition of the quantiser.
  std::function<std::vector<std::byte>(const RawTensor& f32)> quantise;
  /// Neighbouring elements that share all their scales; a divisor of every id the format takes.
  int64_t scale_elems = 1;
  /// The element that a plane's fields decode to, each given by its bits; nullopt where these
  /// fields do not determine it.
  std::function<std::optional<double>(const FieldBits&)> combine = {};
  /// A tensor that is 1 at (line, k_of_line[line]) and 0 elsewhere, all scales 1, encoded.
  /// @pre k_of_line.size() is the number of lines, each entry in 0..id-1
  std::function<std::vector<std::byte>(const Shape&, std::span<const int64_t> k_of_line)> one_hot =
      {};
  std::vector<Extreme> extremes = {};
};

/// A plane as a consumer receives it.
struct BoundPlane {
  const Contract* contract = nullptr;
  const DeviceBuffer* buffer = nullptr;
  uint32_t generation = 0;
};

/// What one block of a consumer wrote about itself, 16 bytes.
struct Stamp {
  uint32_t instance = 0;    ///< low half of fnv1a(consumer name)
  uint32_t generation = 0;  ///< of the plane that holds the weight codes
  uint32_t contract = 0;    ///< low half of that plane's contract hash
  uint32_t block = 0;       ///< linear block index + 1

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

/// One launch: planes in the order of ConsumerSpec::reads, output Y (nt, od) f32, row-major.
struct LaunchRequest {
  Shape shape;
  std::vector<BoundPlane> planes;
  const DeviceBuffer* y = nullptr;
  const DeviceBuffer* stamps = nullptr;  ///< null: off. Else blocks(shape) stamps.
  /// Scratch memory of workspace_bytes(shape), content undefined; null where that is 0.
  const DeviceBuffer* workspace = nullptr;
};

using LaunchFn = std::function<void(Device&, const LaunchRequest&)>;

/// One run of a transform on the device: every byte of plane `made` is to be written.
struct MakeRequest {
  Shape shape;
  BoundPlane source;
  BoundPlane made;
};

using MakeFn = std::function<void(Device&, const MakeRequest&)>;

/// A condition on the shape without which a consumer refuses to run.
struct Precondition {
  std::string requirement;  ///< `id a multiple of 256`
  bool (*holds)(const Shape&) = nullptr;
};

/// How a consumer rounds: what the a-priori bound of an element is derived from.
///
/// Sums over `exact_elems` neighbouring elements are exact in int32. Each such sum is multiplied
/// by its scales with `roundings_per_term` f32 roundings; the products are added in f32.
struct Arithmetic {
  int64_t exact_elems = 1;
  int64_t roundings_per_term = 1;
  std::string text;  ///< `int32 over 16, then f32 sequential`
  /// f32 additions that a term passes through at most; null: one chain, id / exact_elems.
  int64_t (*additions)(const Shape&) = nullptr;
  /// Operands are rounded before they are multiplied: relative error of a term, and error of an
  /// activation in units of the largest of its token.
  double operand_relative = 0;
  double activation_floor = 0;

  int64_t additions_at(const Shape& shape) const {
    return additions == nullptr ? shape.id() / exact_elems : additions(shape);
  }
};

/// A named choice inside a consumer: diagnosis intersects these.
struct Policy {
  std::string kind;  ///< `code address`
  std::string name;  ///< `contract w_exp: row:id  sb:256  k:1`

  friend auto operator<=>(const Policy&, const Policy&) = default;
};

/// A plane that a consumer reads, and which of its fields.
struct FieldUse {
  const Contract* plane = nullptr;
  std::vector<std::string> fields;
};

/// A kernel that a launch runs, as the device's compiler made it.
struct KernelEntry {
  std::string type;                ///< as C++ spells it: `planegate::...::GemmS8<...>`
  int threads = 0;                 ///< of a block
  int min_blocks = 0;              ///< an SM, as the compiler was told
  int dynamic_shared_bytes = 0;    ///< asked for at launch, beside what the code declares
  const void* function = nullptr;  ///< for the device's runtime alone

  std::string name() const;  ///< `GemmS8`
};

struct DeviceLaunch {
  DeviceKind device;
  LaunchFn launch;
  std::vector<KernelEntry> kernels = {};  ///< empty where the device has no compiler of its own
  /// The only one that has what the kernels use: `sm_90a`; empty: any that the build has code for.
  std::string architecture = {};
};

/// A transform under test that runs on the device: plane `source` -> plane `plane`.
struct DeviceProducerSpec {
  std::string name;  ///< `w_exp from raw`
  const Contract* source = nullptr;
  const Contract* plane = nullptr;
  std::vector<std::pair<DeviceKind, MakeFn>> makes;

  /// Null where it was not built for such devices.
  const MakeFn* on(DeviceKind device) const;
};

/// A kernel variant under test.
struct ConsumerSpec {
  std::string name;                           ///< `w_exp/cp_async`
  std::string format;                         ///< weight format, `q6_K`
  int rank = 0;                               ///< Dispatch prefers smaller ranks
  bool (*meant_for)(const Shape&) = nullptr;  ///< shapes it competes for; null: all
  std::vector<FieldUse> reads;
  std::vector<Precondition> preconditions;
  Arithmetic arithmetic;
  bool deterministic = true;
  std::string determinism_reason;
  std::vector<Policy> policies;
  int64_t (*blocks)(const Shape&) = nullptr;           ///< blocks of one launch
  int64_t tile_rows = 1;                               ///< rows that one block column makes
  int64_t tile_tokens = kTokenTileTokens;              ///< tokens that one block makes, at most
  int64_t (*workspace_bytes)(const Shape&) = nullptr;  ///< null: needs none
  std::vector<DeviceLaunch> launches;

  uint32_t instance() const;
  /// The first precondition that `shape` breaks.
  std::optional<std::string> refusal(const Shape& shape) const;
  /// Null where the consumer was not built for such devices; Device::refusal() knows this one.
  const DeviceLaunch* on(DeviceKind device) const;
  LaunchFn launch_on(DeviceKind device) const;
  std::vector<KernelEntry> kernels_on(DeviceKind device) const;
};

}  // namespace planegate
