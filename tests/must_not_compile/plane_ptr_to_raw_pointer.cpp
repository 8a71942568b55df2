#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/plane_ptr.h>

#if defined(PLANEGATE_BAD)
using Pointer = const std::byte*;
#else
using Pointer = planegate::simt::PlanePtr<planegate::q6_k::WExp>;
#endif

Pointer copy(const planegate::simt::PlanePtr<planegate::q6_k::WExp>& plane) {
  return plane;
}
