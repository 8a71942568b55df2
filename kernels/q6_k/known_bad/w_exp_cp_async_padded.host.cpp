#include "kernels/q6_k/known_bad/w_exp_cp_async_padded.h"

planegate::ConsumerSpec planegate::kernels::q6_k::w_exp_cp_async_padded() {
  return spec<WExpCpAsyncPadded>();
}
