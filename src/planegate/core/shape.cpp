#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/core/shape.h>

namespace planegate {
namespace {

constexpr int64_t kMaxElems = int64_t{1} << 59;

void require_extent(const char* name, int64_t extent) {
  require(extent >= 1, name, extent, "at least 1");
  require(extent <= kMaxElems, name, extent, "at most 2^59");
}

}  // namespace

Shape::Shape(int64_t od, int64_t id, int64_t nt) : axes_{{od, 0, od}, {id, 0, id}, {nt, 0, nt}} {
  require_extent("od", od);
  require_extent("id", id);
  require_extent("nt", nt);
  require(od <= kMaxElems / id, "od", od, fmt::format("od*id at most 2^59 (id={})", id));
  require(nt <= kMaxElems / id, "nt", nt, fmt::format("nt*id at most 2^59 (id={})", id));
  require(nt <= kMaxElems / od, "nt", nt, fmt::format("nt*od at most 2^59 (od={})", od));
}

int64_t Shape::nsb() const {
  require(id() % kSuperBlockElems == 0, "id", id(), "not a multiple of 256");
  return id() / kSuperBlockElems;
}

Shape Shape::with_tokens(int64_t nt) const {
  Shape shape(od(), id(), nt);
  shape.axes_[static_cast<int>(Axis::kRow)] = range(Axis::kRow);
  shape.axes_[static_cast<int>(Axis::kK)] = range(Axis::kK);
  return shape;
}

Shape Shape::shard(Axis axis, int64_t origin, int64_t extent) const {
  const AxisRange& whole = range(axis);
  require(origin >= 0, "origin", origin, "at least 0");
  require(extent >= 1 && extent <= whole.extent - origin, "extent", extent,
          fmt::format("between 1 and {} at origin {}", whole.extent - origin, origin));
  Shape part = *this;
  part.axes_[static_cast<int>(axis)] = {extent, whole.origin + origin, whole.parent};
  return part;
}

std::string Shape::text() const {
  if (id() % kSuperBlockElems != 0) return fmt::format("od={} id={} nt={}", od(), id(), nt());
  return fmt::format("od={} id={} nsb={} nt={}", od(), id(), nsb(), nt());
}

}  // namespace planegate
