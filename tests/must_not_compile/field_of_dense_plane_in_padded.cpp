#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/plane_ptr.h>

#if defined(PLANEGATE_BAD)
using Plane = planegate::q6_k::Padded;
#else
using Plane = planegate::q6_k::WExp;
#endif

auto address(const planegate::simt::PlanePtr<Plane>& plane) {
  return plane.at<planegate::q6_k::WExp::Codes>(35, 256);
}
