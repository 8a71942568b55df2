#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include <sys/mman.h>

#include <planegate/core/errors.h>
#include <planegate/core/sealed_bytes.h>

namespace planegate {

SealedBytes::SealedBytes(int64_t size_bytes) : size_bytes_(size_bytes) {
  require(size_bytes >= 0, "size_bytes", size_bytes, "at least 0");
  if (size_bytes == 0) return;
  void* const mapped = mmap(nullptr, static_cast<size_t>(size_bytes), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  // A wish: planes of gigabytes are first touched by pages of 4 KiB otherwise.
  static_cast<void>(madvise(mapped, static_cast<size_t>(size_bytes), MADV_HUGEPAGE));
  data_ = static_cast<std::byte*>(mapped);
}

SealedBytes SealedBytes::copy_of(std::span<const std::byte> bytes) {
  SealedBytes copy(std::ssize(bytes));
  std::ranges::copy(bytes, copy.writable().begin());
  copy.seal();
  return copy;
}

void SealedBytes::fill(std::byte value) {
  // A core takes the pages that it touches first.
  constexpr int64_t kPiece = int64_t{2} << 20;
  const std::span<std::byte> all = writable();
#pragma omp parallel for schedule(static)
  for (int64_t at = 0; at < size_bytes_; at += kPiece) {
    std::memset(all.data() + at, static_cast<int>(value),
                static_cast<size_t>(std::min(kPiece, size_bytes_ - at)));
  }
}

SealedBytes::~SealedBytes() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(size_bytes_));
}

SealedBytes::SealedBytes(SealedBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      sealed_(other.sealed_) {}

SealedBytes& SealedBytes::operator=(SealedBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(sealed_, other.sealed_);
  return *this;
}

void SealedBytes::seal() {
  if (data_ != nullptr && mprotect(data_, static_cast<size_t>(size_bytes_), PROT_READ) != 0) {
    throw std::system_error(errno, std::generic_category(), "mprotect of sealed bytes");
  }
  sealed_ = true;
}

std::span<std::byte> SealedBytes::writable() {
  require(!sealed_, "sealed", 1, "bytes that are not sealed");
  return {data_, static_cast<size_t>(size_bytes_)};
}

std::span<const std::byte> SealedBytes::bytes() const {
  return {data_, static_cast<size_t>(size_bytes_)};
}

}  // namespace planegate
