#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/bind.h>

#if defined(PLANEGATE_BAD)
using Plane = planegate::q6_k::Padded;
#else
using Plane = planegate::q6_k::WExp;
#endif

planegate::simt::PlanePtr<Plane> codes(const planegate::LaunchRequest& request,
                                       planegate::simt::Binder& binder) {
  return planegate::simt::bind_plane<planegate::q6_k::WExp>(request, binder);
}
