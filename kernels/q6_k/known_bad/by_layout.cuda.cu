#include "kernels/q6_k/known_bad/by_layout_kernel.h"

void planegate::kernels::q6_k::launch_by_layout_cuda(Device& device, const LaunchRequest& request,
                                                     const SourceFields& sources,
                                                     const Relayout& relayout, uint32_t instance) {
  launch_by_layout(device, request, sources, relayout, instance);
}
