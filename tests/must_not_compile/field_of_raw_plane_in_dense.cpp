#include <planegate/formats/q6_k/contracts.h>
#include <planegate/simt/plane_ptr.h>

#if defined(PLANEGATE_BAD)
using Field = planegate::q6_k::Raw::Ql;
#else
using Field = planegate::q6_k::WExp::Codes;
#endif

uint32_t code(const planegate::simt::PlanePtr<planegate::q6_k::WExp>& plane) {
  return plane.bits<Field>(35, 256);
}
