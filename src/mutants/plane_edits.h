#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <planegate/core/flat_layout.h>

#include "gates/kill_matrix.h"

/// What the hand-written arms of producers and mirrors are made of: a plane that was written well,
/// changed in one way.
namespace planegate::mutants {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// A line and an element of it.
struct Place {
  int64_t line = 0, k = 0;
};

/// The values of one field of a plane, found by its contract.
class Values {
 public:
  /// @throws ContractError when the contract has no such field.
  Values(const Contract& contract, const Shape& shape, const std::string& field);

  /// The bits of the value at `at`, at the bottom of a word.
  uint32_t get(ConstBytes plane, Place at) const;
  void set(Bytes plane, Place at, uint32_t value) const;
  /// Calls visit(place) once for each value.
  template <class Visit>
  void for_each(Visit visit) const {
    for (Place at{0, 0}; at.line < lines_; ++at.line) {
      for (at.k = 0; at.k < elems_; at.k += step_) visit(at);
    }
  }

 private:
  FlatLayout layout_;
  int bits_;
  int64_t lines_, elems_, step_;
};

/// Changes a plane in place; it holds what the good writer made of `raw`.
using PlaneEdit = std::function<void(const RawTensor& raw, Bytes plane)>;

/// Where the value for `at` is taken from. @post inside the tensor
using Source = std::function<Place(Place at, const Shape& shape)>;
/// Each value of `field` is that of another place.
PlaneEdit moved(const Contract& contract, std::string field, Source source);
/// The same with exclusive-or of the element alone: `k ^ mask`.
PlaneEdit crossed(const Contract& contract, std::string field, int64_t mask);
/// Each value of `field` becomes change(value), of which the field's bits count.
PlaneEdit valued(const Contract& contract, std::string field,
                 std::function<uint32_t(uint32_t value)> change);
/// Each value of `field` becomes what `value` makes of the raw tensor.
PlaneEdit recomputed(const Contract& contract, std::string field,
                     std::function<uint32_t(const RawTensor& raw, Place at)> value);
/// The plane is written again into poison: value `at` at bit offset(at); what lies beyond the
/// plane's end is lost.
using Offset = std::function<int64_t(Place at, const Shape& shape)>;
PlaneEdit placed(const Contract& contract, std::string field, Offset offset_bytes);
/// The same with the layout changed: other strides, digits or swizzle.
PlaneEdit relaid(const Contract& contract, std::string field,
                 std::function<void(FlatLayout& layout, const Shape& shape)> change);
/// The line rule for all fields: line j is written from line source(j, lines).
PlaneEdit lines_from(const Contract& contract,
                     std::function<int64_t(int64_t line, int64_t lines)> source);
/// Bytes that no field covers hold `value`.
PlaneEdit padded_with(const Contract& contract, std::byte value);
/// Every byte is that of `by` bytes later; the last ones are poison.
PlaneEdit early_by(int64_t by);

/// Plants `edit` behind the registered producer of `plane`, `behind_mirror` also behind its mirror.
void plant_edit(Catalog& catalog, const std::string& plane, const PlaneEdit& edit,
                bool behind_mirror = false);
/// Changes the synthetic tensors of `format`: what an arm needs the data to hold.
void plant_sample(Catalog& catalog, const std::string& format,
                  std::function<void(const Shape&, Bytes tensor)> edit);

/// A fault of the producer of one plane.
struct ProducerFault {
  const char* name;
  const char* bug_class;
  std::vector<std::string> must_name;
  PlaneEdit edit;
  Shape shape{16, 512};  ///< with fewer rows the recovery of addresses takes more launches
};
/// `producer: PLANE NAME`, red in mirror alone.
gates::Arm producer_arm(const char* plane, const char* consumer, const ProducerFault& fault);

/// The parts of producer_arms(), by planes.
std::vector<gates::Arm> block_plane_arms();
std::vector<gates::Arm> w_exp_arms();
std::vector<gates::Arm> w_dsc_arms();
std::vector<gates::Arm> activation_plane_arms();
std::vector<gates::Arm> quantiser_arms();

}  // namespace planegate::mutants
