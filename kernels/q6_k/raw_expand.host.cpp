#include "kernels/q6_k/raw_expand.h"

planegate::ConsumerSpec planegate::kernels::q6_k::raw_expand() {
  return spec<RawExpand>();
}
