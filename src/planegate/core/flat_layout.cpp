#include <planegate/core/flat_layout.h>

namespace planegate {

FlatLayout flatten(const Layout& layout, const Shape& shape) {
  const BoundLayout bound = bind(layout, shape);
  FlatLayout flat{layout.base_bits, layout.n_modes, {}, layout.swizzle};
  for (int i = 0; i < layout.n_modes; ++i) {
    const Mode& mode = layout.modes[i];
    flat.terms[i] = {mode.axis, mode.div, mode.outermost() ? 0 : mode.extent.factor,
                     bound.stride_bits[i]};
  }
  return flat;
}

}  // namespace planegate
