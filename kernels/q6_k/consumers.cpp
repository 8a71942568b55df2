#include "kernels/q6_k/consumers.h"

#include <planegate/devices/device.h>

#include "kernels/q6_k/known_bad/w_exp_bytewise_padded.h"
#include "kernels/q6_k/known_bad/w_exp_copy16_padded.h"
#include "kernels/q6_k/known_bad/w_exp_cp_async_padded.h"
#include "kernels/q6_k/raw_expand.h"
#include "kernels/q6_k/w_exp_bytewise.h"
#include "kernels/q6_k/w_exp_copy16.h"
#include "kernels/q6_k/w_exp_cp_async.h"

namespace planegate::kernels::q6_k {
namespace {

/// A variant with the launches of both devices, as far as both were built.
ConsumerSpec both(ConsumerSpec consumer, [[maybe_unused]] LaunchFn (*cuda)()) {
#if PLANEGATE_HAVE_CUDA
  consumer.launches.push_back({DeviceKind::kCuda, cuda()});
#endif
  return consumer;
}

#if !PLANEGATE_HAVE_CUDA
#define PLANEGATE_BOTH(variant) both(variant(), nullptr)
#else
#define PLANEGATE_BOTH(variant) both(variant(), variant##_cuda)
#endif

}  // namespace

void register_consumers(Catalog& catalog) {
  catalog.add(PLANEGATE_BOTH(raw_expand));
  catalog.add(PLANEGATE_BOTH(w_exp_bytewise));
  catalog.add(PLANEGATE_BOTH(w_exp_copy16));
  catalog.add(PLANEGATE_BOTH(w_exp_cp_async));
}

std::vector<ConsumerSpec> known_bad_consumers() {
  return {PLANEGATE_BOTH(w_exp_bytewise_padded), PLANEGATE_BOTH(w_exp_copy16_padded),
          PLANEGATE_BOTH(w_exp_cp_async_padded)};
}

}  // namespace planegate::kernels::q6_k
