#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace planegate {

/// Page-aligned bytes that can be made read-only: reference data, out of reach of the code under
/// test. A write to a sealed buffer is a segmentation fault, not a wrong verdict.
class SealedBytes {
 public:
  /// @throws ContractError for a negative size, std::bad_alloc when there is no memory.
  explicit SealedBytes(int64_t size_bytes);
  ~SealedBytes();
  SealedBytes(SealedBytes&& other) noexcept;
  SealedBytes& operator=(SealedBytes&& other) noexcept;

  /// Makes the bytes read-only for good.
  void seal();

  /// @pre not sealed.
  std::span<std::byte> writable();
  std::span<const std::byte> bytes() const;

 private:
  std::byte* data_ = nullptr;
  int64_t size_bytes_ = 0;
  bool sealed_ = false;
};

}  // namespace planegate
