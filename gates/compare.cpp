#include "gates/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <planegate/core/errors.h>
#include <planegate/core/hash.h>

namespace planegate::gates {
namespace {

constexpr uint32_t kUnwrittenBits = 0xFFFFFFFFu;

/// Indices that one thread looks at in one go; blocks that `alike` knows to be equal are passed
/// over at the speed of memory.
constexpr int64_t kBlock = int64_t{1} << 14;
/// Bytes shown around a first difference.
constexpr int64_t kWindowBytes = 16;

/// Counts, finds the first and fingerprints the indices in [0, n) at which `differs`.
/// `alike(begin, end)`: none of these differs. `value` is what the fingerprint takes from an index,
/// which counts from `origin`.
template <class Alike, class Differs, class Value>
Difference scan(int64_t n, Alike alike, Differs differs, Value value, int64_t origin = 0) {
  int64_t count = 0;
  int64_t first = n;
  uint64_t fingerprint = 0;
#pragma omp parallel for schedule(static) reduction(+ : count, fingerprint) reduction(min : first)
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    if (alike(begin, end)) continue;
    for (int64_t i = begin; i < end; ++i) {
      if (!differs(i)) continue;
      ++count;
      first = std::min(first, i);
      fingerprint += mix(mix(static_cast<uint64_t>(origin + i)) ^ value(i));
    }
  }
  Difference difference;
  difference.count = count;
  difference.fingerprint = fingerprint;
  if (count > 0) difference.first = std::to_string(first);
  return difference;
}

/// Bit equality of the same part of two ranges.
template <class T>
auto same_bits(std::span<const T> a, std::span<const T> b) {
  return [=](int64_t begin, int64_t end) {
    const auto from = static_cast<size_t>(begin);
    return std::memcmp(&a[from], &b[from], static_cast<size_t>(end - begin) * sizeof(T)) == 0;
  };
}

int64_t first_index(const Difference& difference) {
  return std::stoll(difference.first);
}

/// The byte `marked` in brackets.
std::string window(std::span<const std::byte> bytes, int64_t marked) {
  std::string out;
  for (int64_t i = 0; i < std::ssize(bytes); ++i) {
    const auto byte = static_cast<unsigned>(bytes[static_cast<size_t>(i)]);
    const std::string value = fmt::format("{:02x}", byte);
    out += i == marked ? "[" + value + "]" : " " + value + " ";
  }
  return out;
}

std::string element_text(float y) {
  return std::bit_cast<uint32_t>(y) == kUnwrittenBits ? "unwritten" : fmt::format("{:.9g}", y);
}

template <class T, class Text>
std::string values(std::span<const T> all, int64_t first, int64_t marked, Text text) {
  std::string out;
  const int64_t last = std::min<int64_t>(first + 4, static_cast<int64_t>(all.size()));
  for (int64_t i = first; i < last; ++i) {
    const std::string value = text(all[static_cast<size_t>(i)]);
    out += (out.empty() ? "" : " ") + (i == marked ? "[" + value + "]" : value);
  }
  return out;
}

template <class T, class Text>
void describe_elements(Difference& difference, const Shape& shape, std::span<const T> want,
                       Text want_text, std::span<const float> have) {
  const int64_t first = first_index(difference);
  const int64_t begin = std::max<int64_t>(0, first - 1);
  difference.first =
      fmt::format("element {} = token {}, row {}", first, first / shape.od(), first % shape.od());
  difference.want = values(want, begin, first, want_text);
  difference.have = values(have, begin, first, element_text);
}

void require_elements(const Shape& shape, size_t size) {
  require(static_cast<int64_t>(size) == shape.nt() * shape.od(), "elements",
          static_cast<long long>(size), fmt::format("nt*od = {}", shape.nt() * shape.od()));
}

/// A tested buffer that is its own reference agrees with it whatever it holds.
template <class T, class U>
void require_apart(const char* reference, std::span<const T> want, std::span<const U> have) {
  if (want.empty() || have.empty()) return;
  const auto begin = [](auto bytes) { return reinterpret_cast<uintptr_t>(bytes.data()); };
  const auto end = [&](auto bytes) { return begin(bytes) + bytes.size_bytes(); };
  if (begin(want) < end(have) && begin(have) < end(want)) {
    throw ContractError("have", fmt::format("{} bytes", have.size_bytes()),
                        fmt::format("shares memory with {}", reference));
  }
}

}  // namespace

ByteComparison::ByteComparison(const Contract& contract, const Shape& shape,
                               std::span<const std::byte> want)
    : contract_(contract), shape_(shape), want_(want) {}

int64_t ByteComparison::window_begin() const {
  return std::max<int64_t>(0, std::min(first_ - 4, std::ssize(want_) - kWindowBytes));
}

void ByteComparison::add(std::span<const std::byte> have) {
  const int64_t begin = added_;
  require(std::ssize(have) <= std::ssize(want_) - begin, "bytes", begin + std::ssize(have),
          fmt::format("{} as in the mirror", want_.size()));
  require_apart("want", want_, have);
  const auto want = want_.subspan(static_cast<size_t>(begin), have.size());
  added_ += std::ssize(have);
  const Difference found = scan(
      std::ssize(have), same_bits(want, have),
      [&](int64_t i) { return want[static_cast<size_t>(i)] != have[static_cast<size_t>(i)]; },
      [&](int64_t i) { return static_cast<uint64_t>(have[static_cast<size_t>(i)]); }, begin);
  if (found.count > 0 && difference_.count == 0) {
    first_ = begin + first_index(found);
    const auto wanted = want_.subspan(static_cast<size_t>(window_begin()));
    window_.assign(wanted.begin(), wanted.begin() + std::min(kWindowBytes, std::ssize(wanted)));
  }
  difference_.count += found.count;
  difference_.fingerprint += found.fingerprint;
  // Up to the first difference the window holds what was wanted, behind it what came.
  for (int64_t i = 0; i < std::ssize(window_); ++i) {
    const int64_t at = window_begin() + i - begin;
    if (at < 0 || at >= std::ssize(have)) continue;
    window_[static_cast<size_t>(i)] = have[static_cast<size_t>(at)];
  }
}

Difference ByteComparison::finish() {
  require(added_ == std::ssize(want_), "bytes", added_,
          fmt::format("{} as in the mirror", want_.size()));
  if (difference_.count == 0) return difference_;
  const int64_t begin = window_begin();
  difference_.first =
      fmt::format("byte {} = {}", first_, coordinate_text(contract_, shape_, first_));
  difference_.want =
      window(want_.subspan(static_cast<size_t>(begin), window_.size()), first_ - begin);
  difference_.have = window(window_, first_ - begin);
  return difference_;
}

Difference compare_bytes(const Contract& contract, const Shape& shape,
                         std::span<const std::byte> want, std::span<const std::byte> have) {
  ByteComparison comparison(contract, shape, want);
  comparison.add(have);
  return comparison.finish();
}

Difference compare_elements(const Shape& shape, std::span<const double> want,
                            std::span<const double> bound, std::span<const float> have) {
  require_elements(shape, want.size());
  require_elements(shape, have.size());
  if (!bound.empty()) require_elements(shape, bound.size());
  require_apart("want", want, have);
  require_apart("bound", bound, have);
  const auto differs = [&](int64_t index) {
    const auto i = static_cast<size_t>(index);
    const auto y = static_cast<double>(have[i]);
    return bound.empty() ? y != want[i] : !(std::abs(y - want[i]) <= bound[i]);
  };
  const auto none_alike = [](int64_t, int64_t) { return false; };
  const auto bits = [&](int64_t i) {
    return uint64_t{std::bit_cast<uint32_t>(have[static_cast<size_t>(i)])};
  };
  Difference difference = scan(std::ssize(have), none_alike, differs, bits);
  if (difference.count == 0) return difference;
  const auto first = static_cast<size_t>(first_index(difference));
  describe_elements(
      difference, shape, want, [](double y) { return fmt::format("{:.9g}", y); }, have);
  if (!bound.empty()) difference.want += fmt::format("  +-{:.3g}", bound[first]);
  return difference;
}

int64_t count_unwritten(std::span<const float> y) {
  return std::count_if(y.begin(), y.end(), [](float value) {
    return std::bit_cast<uint32_t>(value) == kUnwrittenBits;
  });
}

Difference compare_bits(const Shape& shape, std::span<const float> want,
                        std::span<const float> have) {
  require_elements(shape, want.size());
  require_elements(shape, have.size());
  require_apart("want", want, have);
  const auto bits = [](std::span<const float> y, int64_t i) {
    return std::bit_cast<uint32_t>(y[static_cast<size_t>(i)]);
  };
  Difference difference = scan(
      std::ssize(have), same_bits(want, have),
      [&](int64_t i) { return bits(want, i) != bits(have, i); },
      [&](int64_t i) { return uint64_t{bits(have, i)}; });
  if (difference.count > 0) describe_elements(difference, shape, want, element_text, have);
  return difference;
}

}  // namespace planegate::gates
