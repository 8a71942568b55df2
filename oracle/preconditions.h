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
  const int64_t have = static_cast<int64_t>(raw.bytes.size());
  require(have == size_bytes, "raw.bytes", have,
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

/// @throws ContractError unless `line` is one of `lines` and `values` holds one line of `id`.
inline void require_line(int64_t line, int64_t lines, int64_t id, std::span<const double> values) {
  require(line >= 0 && line < lines, "line", line, "outside " + std::to_string(lines) + " lines");
  require(static_cast<int64_t>(values.size()) == id, "values",
          static_cast<long long>(values.size()), "not id=" + std::to_string(id));
}

}  // namespace planegate::oracle
