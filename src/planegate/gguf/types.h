#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace planegate {

inline constexpr int64_t kGgufDefaultAlignment = 32;
inline constexpr int kGgufMaxDims = 4;
inline constexpr int64_t kGgufMaxNameBytes = 64;     ///< of a tensor
inline constexpr int64_t kGgufMaxKeyBytes = 65'535;  ///< of a metadata entry
/// Arrays inside arrays: a flat array has depth 1.
inline constexpr int kGgufMaxArrayDepth = 4;

/// Type of a metadata value, numbered as in the file. Source: the GGUF specification.
enum class GgufType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};
inline constexpr uint32_t kGgufTypes = 13;

/// `u8`, `string`, ...
const char* gguf_type_name(GgufType type);
/// Bytes of one value; 0 where that depends on the value (string, array).
int64_t gguf_type_bytes(GgufType type);

/// An encoding of tensor elements: `block_elems` neighbours of a row take `block_bytes`.
struct GgmlType {
  uint32_t number = 0;  ///< as written in the file
  const char* name = "";
  int64_t block_elems = 1;
  int64_t block_bytes = 1;
};

/// Every type that a current model can hold, by number. Source: ggml's block definitions.
std::span<const GgmlType> ggml_types();
/// Null for a number or name without a current type.
const GgmlType* ggml_type(uint32_t number);
const GgmlType* ggml_type(std::string_view name);
/// Name of a type that upstream has removed, null for any other number.
const char* removed_ggml_type(uint32_t number);

/// Why a tensor cannot exist. `dim` is the index of the first extent that is at fault.
struct TensorFault {
  std::string field;
  std::string value;
  std::string requirement;
  int dim = 0;
};

/// Bytes of a tensor, or why there is none: what the reader and the writer both refuse.
///
/// ne: 1 to 4 extents, ne[0] the row length. A zero extent is a fault: a tensor without elements
/// has nothing to verify. (Upstream reads such a tensor.)
/// @post bytes = ne[0] / block_elems * block_bytes * ne[1] * ne[2] * ne[3] < 2^63, and so is the
///       number of elements (GgmlTypes.SizeIsAFaultWhereItWraps)
std::variant<int64_t, TensorFault> tensor_bytes(const GgmlType& type, std::span<const int64_t> ne);

}  // namespace planegate
