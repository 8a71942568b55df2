#include "kernels/q6_k/known_bad/w_exp_copy16_padded.h"

planegate::ConsumerSpec planegate::kernels::q6_k::w_exp_copy16_padded() {
  return spec<WExpCopy16Padded>();
}
