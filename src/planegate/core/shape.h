#pragma once

#include <cstdint>
#include <string>

namespace planegate {

/// Weights per super-block: the unit in which `id` is counted as nsb.
inline constexpr int64_t kSuperBlockElems = 256;

/// The named axes of a tensor. `row` and `token` number lines, `k` the elements of a line.
enum class Axis : uint8_t { kRow, kK, kToken };
inline constexpr int kAxes = 3;

/// One axis: `extent` coordinates starting at `origin` of a parent axis `parent` long.
struct AxisRange {
  int64_t extent = 1;
  int64_t origin = 0;
  int64_t parent = 1;

  friend constexpr bool operator==(const AxisRange&, const AxisRange&) = default;
};

/// The extents of one GEMM: Y (nt, od) = X (nt, id) * W (od, id)^T.
///
/// od, id and nt are the extents of row, k and token; nsb = id / 256. A tensor-parallel shard is a
/// shape whose axis has an origin and a longer parent.
/// @throws ContractError for an extent below 1, or a product of od, id and 8 bytes above 2^62.
class Shape {
 public:
  Shape(int64_t od, int64_t id, int64_t nt = 1);

  int64_t od() const { return range(Axis::kRow).extent; }
  int64_t id() const { return range(Axis::kK).extent; }
  int64_t nt() const { return range(Axis::kToken).extent; }
  /// @pre id() % 256 == 0, else ContractError.
  int64_t nsb() const;

  const AxisRange& range(Axis axis) const { return axes_[static_cast<int>(axis)]; }

  /// The same weights with another number of tokens.
  Shape with_tokens(int64_t nt) const;
  /// The part [origin, origin + extent) of `axis`. @pre it lies inside the axis.
  Shape shard(Axis axis, int64_t origin, int64_t extent) const;

  /// `od=70 id=512 nsb=2 nt=3`, the form of every report. (`nsb` is absent where id % 256 != 0.)
  std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  AxisRange axes_[kAxes];
};

}  // namespace planegate
