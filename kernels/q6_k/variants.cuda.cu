#include "kernels/q6_k/variants.h"

namespace planegate::kernels::q6_k {
namespace {

template <class... V>
std::vector<std::vector<KernelEntry>> kernels(VariantList<V...>) {
  return {simt::entries_of(typename V::Kernels{})...};
}

}  // namespace

std::vector<LaunchFn> cuda_launches() {
  return launches(Variants{});
}

std::vector<std::vector<KernelEntry>> cuda_kernels() {
  return kernels(Variants{});
}

}  // namespace planegate::kernels::q6_k
