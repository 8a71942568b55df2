#pragma once

#include <planegate/simt/bind.h>

/// Policy: how a plane is reached.
namespace planegate::kernels::q6_k {
inline namespace PLANEGATE_SIMT_ABI {

using simt::PlanePtr;

/// Through its own contract. `Layout` holds the field tags that addresses are made of.
template <class ContractTag>
struct OwnLayout {
  using Layout = ContractTag;
  using Plane = PlanePtr<ContractTag>;

  static Plane bind(const LaunchRequest& request, simt::Binder& binder) {
    return simt::bind_plane<ContractTag>(request, binder);
  }
  /// What policies say of a field's address.
  static std::string text(const Field& field) {
    return "contract " + describe<ContractTag>().name + ": " + planegate::text(field.layout);
  }
};

}  // namespace PLANEGATE_SIMT_ABI
}  // namespace planegate::kernels::q6_k
