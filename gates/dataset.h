#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <planegate/core/sealed_bytes.h>
#include <planegate/store/plane_store.h>

#include "gates/context.h"
#include "oracle/gemm.h"

namespace planegate::gates {

/// What a consumer's output is held against: (nt, od) row-major, sealed.
struct Expected {
  const SealedArray<double>& y;
  const SealedArray<double>& bound;
  const SealedArray<double>& magnitude;  ///< sum of |terms|
};

/// Inputs of a GEMM with their planes on the device and Y* beside them.
///
/// Planes are written by the mirrors and uploaded; nothing here passed a producer. The raw bytes
/// that it owns, its mirrors and Y* are sealed: nothing that runs on it can change them.
class Dataset {
 public:
  /// `text` says which data for reports: `file, seed 1`, `lattice of codes, seed 1`.
  /// `weights` is a view that must outlive the dataset; `activations` are encoded in the format
  /// of `activation_format`.
  Dataset(Context& context, std::string text, const RawTensor& weights,
          const FormatOracle& activation_format, std::vector<std::byte> activations);
  /// The same with weights of its own.
  Dataset(Context& context, std::string text, const Shape& shape, const FormatOracle& weight_format,
          SealedBytes weights, const FormatOracle& activation_format, SealedBytes activations);

  Dataset(Dataset&&) = default;

  const std::string& text() const { return text_; }
  const Shape& shape() const { return weights_.shape; }
  const RawTensor& weights() const { return weights_; }
  const RawTensor& activations() const { return activations_; }
  const PlaneStore& store() const { return store_; }
  PlaneStore& store() { return store_; }
  /// The name under which a plane's tensor is registered in store().
  const std::string& tensor_of(const Contract& plane) const {
    return plane.role == Role::kWeights ? weights_.name : activations_.name;
  }

  /// The mirror of a plane, computed from this dataset's raw tensors.
  SealedBytes mirror(const Contract& plane) const;
  /// The same before it is sealed, for who edits it.
  SealedBytes unsealed_mirror(const Contract& plane) const;
  /// Uploads the mirror of every plane of `consumer` that is not registered yet.
  void ensure_planes(const ConsumerSpec& consumer, std::byte guard_fill = std::byte{0xA5});
  /// The plane's registration; its mirror is uploaded first where there is none.
  const StoredPlane& ensure_plane(const Contract& plane, std::byte guard_fill = std::byte{0xA5});
  /// Y* and bounds for `arithmetic`; the sums are computed once for all that share exact_elems,
  /// the bounds are kept until others are asked for.
  Expected reference(const Arithmetic& arithmetic);
  /// Y* alone, computed once: it does not depend on how a consumer rounds.
  std::span<const double> exact_y();
  /// Whether every f32 partial sum over these inputs is exact (lattices must be).
  bool exact();

 private:
  const oracle::Terms& terms(int64_t exact_elems);

  Context& context_;
  std::string text_;
  SealedBytes own_weights_, own_activations_;
  const FormatOracle* weight_format_;
  const FormatOracle* activation_format_;
  RawTensor weights_, activations_;
  PlaneStore store_;
  std::map<int64_t, oracle::Terms> terms_;  ///< by exact_elems
  std::optional<SealedArray<double>> bound_;
  Arithmetic bound_of_;
  int64_t bound_additions_ = 0;
  std::optional<bool> exact_;
};

/// Activations (nt, id) f32 as a model might have them: about normal, some outliers, hash(seed).
std::vector<float> sample_activations(const Shape& shape, uint64_t seed);

/// A synthetic input in which every f32 partial sum is exact.
struct Lattice {
  std::string name;  ///< `codes`, `scales`, `activations`, `powers of two`
  LatticeRanges weights, activations;
};

/// The lattices of a shape: codes, scales and activations over their whole ranges in turn, then
/// scales that are any signed power of two. Ranges are the largest that stay exact at id.
std::vector<Lattice> lattices(const Shape& shape);

/// The dataset of one lattice, hash(context.seed, coordinates).
Dataset make_dataset(Context& context, const Shape& shape, const Lattice& lattice,
                     const FormatOracle& weight_format, const FormatOracle& activation_format);

}  // namespace planegate::gates
