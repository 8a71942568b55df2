#include "kernels/q6_k/w_exp_cp_async.h"

planegate::ConsumerSpec planegate::kernels::q6_k::w_exp_cp_async() {
  return spec<WExpCpAsync>();
}
