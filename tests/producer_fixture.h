#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/errors.h>
#include <planegate/producers/q6_k/producers.h>
#include <planegate/producers/q8_act/producers.h>

/// What the tests of the host producers share.
namespace planegate::test {

inline constexpr std::byte kUntouched{0x77};

inline const Catalog& catalog() {
  static const Catalog all = [] {
    Catalog made;
    producers::q6_k::register_producers(made);
    producers::q8_act::register_producers(made);
    return made;
  }();
  return all;
}

inline std::vector<std::byte> plane_for(const std::string& name, const Shape& shape) {
  const int64_t size_bytes = catalog().producer(name)->plane->size_bytes(shape);
  return std::vector<std::byte>(static_cast<size_t>(size_bytes), kUntouched);
}

inline std::vector<std::byte> produce(const std::string& name, const RawTensor& raw) {
  std::vector<std::byte> plane = plane_for(name, raw.shape);
  catalog().producer(name)->write(raw, plane);
  return plane;
}

inline void expect_refused_untouched(const std::string& name, const RawTensor& raw,
                                     int64_t plane_bytes, const std::string& reason) {
  std::vector<std::byte> plane(static_cast<size_t>(plane_bytes), kUntouched);
  EXPECT_THAT([&] { catalog().producer(name)->write(raw, plane); },
              testing::ThrowsMessage<ContractError>(testing::HasSubstr(reason)));
  EXPECT_THAT(plane, testing::Each(kUntouched));
}

inline int signed_at(const std::vector<std::byte>& plane, int64_t at) {
  return static_cast<int8_t>(plane[static_cast<size_t>(at)]);
}

inline uint32_t word_at(const std::vector<std::byte>& plane, int64_t index) {
  uint32_t word = 0;
  std::memcpy(&word, plane.data() + index * 4, sizeof(word));
  return word;
}

struct Weights {
  explicit Weights(const Shape& s) : shape(s), bytes(static_cast<size_t>(s.od() * s.nsb() * 210)) {}
  RawTensor raw() const { return {"w", "q6_K", shape, bytes}; }
  std::byte& at(int64_t block, int64_t offset) {
    return bytes[static_cast<size_t>(block * 210 + offset)];
  }
  Shape shape;
  std::vector<std::byte> bytes;
};

struct Activations {
  explicit Activations(const Shape& s)
      : shape(s), values(static_cast<size_t>(s.nt() * s.id()), 0.0f) {}
  RawTensor raw() const { return {"x", "f32", shape, std::as_bytes(std::span(values))}; }
  float& at(int64_t token, int64_t k) {
    return values[static_cast<size_t>(token * shape.id() + k)];
  }
  Shape shape;
  std::vector<float> values;
};

}  // namespace planegate::test
