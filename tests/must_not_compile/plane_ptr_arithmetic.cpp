#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/plane_ptr.h>

auto step(const planegate::simt::PlanePtr<planegate::q6_k::WExp>& plane) {
#if defined(PLANEGATE_BAD)
  return plane + 1;
#else
  return plane;
#endif
}
