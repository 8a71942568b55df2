#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/plane_ptr.h>

auto member(const planegate::simt::PlanePtr<planegate::q6_k::WExp>& plane) {
#if defined(PLANEGATE_BAD)
  return plane.base_;
#else
  return plane.at<planegate::q6_k::WExp::Codes>(0, 0);
#endif
}
