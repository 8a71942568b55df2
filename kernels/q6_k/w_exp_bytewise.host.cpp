#include "kernels/q6_k/w_exp_bytewise.h"

planegate::ConsumerSpec planegate::kernels::q6_k::w_exp_bytewise() {
  return spec<WExpBytewise>();
}
