#include "kernels/q6_k/w_exp_copy16.h"

planegate::ConsumerSpec planegate::kernels::q6_k::w_exp_copy16() {
  return spec<WExpCopy16>();
}
