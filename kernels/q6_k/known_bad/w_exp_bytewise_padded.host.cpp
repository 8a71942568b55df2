#include "kernels/q6_k/known_bad/w_exp_bytewise_padded.h"

planegate::ConsumerSpec planegate::kernels::q6_k::w_exp_bytewise_padded() {
  return spec<WExpBytewisePadded>();
}
