#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace planegate {

/// Page-aligned bytes that can be made read-only: reference data, out of reach of the code under
/// test. A write to a sealed buffer is a segmentation fault, not a wrong verdict.
class SealedBytes {
 public:
  /// @throws ContractError for a negative size, std::bad_alloc when there is no memory.
  explicit SealedBytes(int64_t size_bytes);
  /// A sealed copy. @throws as the constructor.
  static SealedBytes copy_of(std::span<const std::byte> bytes);
  ~SealedBytes();
  SealedBytes(SealedBytes&& other) noexcept;
  SealedBytes& operator=(SealedBytes&& other) noexcept;

  /// Sets every byte, on all cores. @pre not sealed.
  void fill(std::byte value);
  /// Makes the bytes read-only for good.
  void seal();
  bool sealed() const { return sealed_; }

  /// @pre not sealed.
  std::span<std::byte> writable();
  std::span<const std::byte> bytes() const;

 private:
  std::byte* data_ = nullptr;
  int64_t size_bytes_ = 0;
  bool sealed_ = false;
};

/// Numbers in sealed bytes: a contiguous range, read-only from seal() on. Zero until written.
template <class T>
class SealedArray {
  static_assert(std::is_trivially_copyable_v<T>, "lives in bytes");

 public:
  using value_type = T;
  using const_iterator = const T*;

  SealedArray() : SealedArray(0) {}
  /// @throws as SealedBytes.
  explicit SealedArray(int64_t size) : bytes_(size * static_cast<int64_t>(sizeof(T))) {}

  void seal() { bytes_.seal(); }
  bool sealed() const { return bytes_.sealed(); }

  /// @pre not sealed.
  std::span<T> writable() { return {reinterpret_cast<T*>(bytes_.writable().data()), size()}; }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.bytes().data()); }
  size_t size() const { return bytes_.bytes().size() / sizeof(T); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](size_t i) const { return data()[i]; }

 private:
  SealedBytes bytes_;
};

}  // namespace planegate
