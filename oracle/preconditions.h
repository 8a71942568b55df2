#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <planegate/core/errors.h>
#include <planegate/core/specs.h>

namespace planegate::oracle {

/// @throws ContractError unless `raw` is of `format` and `size_bytes` long.
inline void require_tensor(const RawTensor& raw, std::string_view format, int64_t size_bytes) {
  if (raw.format != format) {
    throw ContractError("format", raw.format, "not " + std::string(format));
  }
  const int64_t have = std::ssize(raw.bytes);
  if (have == size_bytes) return;
  throw ContractError("raw.bytes", std::to_string(have),
                      "not the " + std::to_string(size_bytes) + " bytes of " + raw.shape.text());
}

/// @throws ContractError unless `plane` has the size of `contract` at the tensor's shape.
inline void require_plane(const Contract& contract, const Shape& shape,
                          std::span<const std::byte> plane) {
  const int64_t want = contract.size_bytes(shape);
  const int64_t have = static_cast<int64_t>(plane.size());
  require(have == want, contract.name, have,
          "not the " + std::to_string(want) + " bytes of " + shape.text());
}

/// @throws ContractError unless `line` is one of `lines` and its elements from k on, as many as
/// `values`, are whole blocks of `block_elems`.
inline void require_elements(int64_t line, int64_t lines, int64_t id, int64_t k,
                             int64_t block_elems, std::span<const double> values) {
  const int64_t count = std::ssize(values);
  const bool whole = k % block_elems == 0 && count % block_elems == 0;
  if (line >= 0 && line < lines && k >= 0 && k + count <= id && whole) return;
  require(line >= 0 && line < lines, "line", line, "outside " + std::to_string(lines) + " lines");
  require(k >= 0 && k % block_elems == 0 && k <= id, "k", k,
          "not the start of a block of " + std::to_string(block_elems));
  require(
      count % block_elems == 0 && k + count <= id, "values", count,
      "not whole blocks of " + std::to_string(block_elems) + " within id=" + std::to_string(id));
}

}  // namespace planegate::oracle
