#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <planegate/core/flat_layout.h>
#include <planegate/core/specs.h>

/// A consumer whose address expressions are data, so that each term of each can be made wrong
/// alone: what the generated arms of the kill matrix run.
namespace planegate::kernels::q6_k {

/// What the kernel reads, in the order of its sources: codes as ql and qh or as stored int8, scales
/// as d and sc or as stored products, activations as codes and d.
inline constexpr int kLayoutSources = 6;
enum LayoutSource : int { kLow, kHigh, kSubScale, kScale, kActCodes, kActScale };

/// Which plane and field a source is; plane null where the source is not used.
struct SourceField {
  const Contract* plane = nullptr;
  const Field* field = nullptr;
};
using SourceFields = std::array<SourceField, kLayoutSources>;

/// Changes one address expression: called for every field with the contract's own layout.
using Relayout = std::function<void(const Contract& plane, const Field& field, const Shape& shape,
                                    FlatLayout& layout)>;

/// The consumers `by_layout/raw`, `/padded`, `/w_exp`, `/w_dsc`, `/qa8`; together they read every
/// field of every plane that decides an output. Element (token, row) is made by one lane, bytewise.
/// Addresses that leave a plane wrap around inside it: no memory checker can see them.
/// @pre nt <= 127: the arms are for small shapes.
std::vector<ConsumerSpec> by_layout_consumers(const Relayout& relayout = {});

/// The sources of `request` under their changed layouts, and their launch on one device.
void launch_by_layout_cuda(Device& device, const LaunchRequest& request,
                           const SourceFields& sources, const Relayout& relayout,
                           uint32_t instance);

}  // namespace planegate::kernels::q6_k
