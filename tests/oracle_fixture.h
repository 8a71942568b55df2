#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planegate/core/catalog.h>
#include <planegate/core/errors.h>
#include <planegate/core/hash.h>
#include <planegate/formats/q6_k/contracts.h>
#include <planegate/formats/q8_act/contracts.h>

#include "oracle/q6_k/q6_k.h"
#include "oracle/q8_act/q8_act.h"

namespace planegate {

using Bytes = std::vector<std::byte>;

inline const Catalog& oracle_catalog() {
  static const Catalog catalog = [] {
    Catalog made;
    oracle::q6_k::register_oracle(made);
    oracle::q8_act::register_oracle(made);
    return made;
  }();
  return catalog;
}

inline const FormatOracle& q6_k_format() {
  return *oracle_catalog().format("q6_K");
}
inline const FormatOracle& q8_0_format() {
  return *oracle_catalog().format("q8_0");
}

inline Bytes lattice_of(const FormatOracle& format, const Shape& shape, uint64_t seed,
                        const LatticeRanges& ranges) {
  Bytes bytes(static_cast<size_t>(format.size_bytes(shape)));
  format.lattice(shape, seed, ranges, bytes);
  return bytes;
}

inline RawTensor tensor(const char* format, const Shape& shape, const Bytes& bytes) {
  return {"t", format, shape, bytes};
}

/// The mirror's bytes over a plane that held 0xA5 everywhere.
template <class Tag>
Bytes mirrored(const RawTensor& raw) {
  const Contract& contract = describe<Tag>();
  Bytes plane(static_cast<size_t>(contract.size_bytes(raw.shape)), std::byte{0xA5});
  oracle_catalog().mirror(contract).write(raw, plane);
  return plane;
}

inline Bytes random_bytes(int64_t size_bytes, uint64_t seed) {
  Bytes bytes(static_cast<size_t>(size_bytes));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(payload(seed, i));
  return bytes;
}

/// Random blocks whose f16 scale, at `scale_at` of each, is finite.
inline Bytes random_blocks(int64_t blocks, int64_t block_bytes, int64_t scale_at, uint64_t seed) {
  Bytes bytes = random_bytes(blocks * block_bytes, seed);
  for (int64_t high = scale_at + 1; high < blocks * block_bytes; high += block_bytes) {
    std::byte& byte = bytes[static_cast<size_t>(high)];
    if ((byte & std::byte{0x7c}) == std::byte{0x7c}) byte &= std::byte{0xbf};
  }
  return bytes;
}

inline Bytes random_weights(const Shape& shape, uint64_t seed) {
  return random_blocks(shape.od() * shape.nsb(), q6_k::kBlockBytes, 208, seed);
}
inline Bytes random_activations(const Shape& shape, uint64_t seed) {
  return random_blocks(shape.nt() * shape.id() / 32, q8_act::kChunkBytes, 0, seed);
}

inline std::vector<double> dequantised(const FormatOracle& format, const RawTensor& raw,
                                       int64_t line) {
  std::vector<double> values(static_cast<size_t>(raw.shape.id()));
  format.dequantise(raw, line, 0, values);
  return values;
}

template <class T>
std::vector<T> pinned(const std::string& name) {
  std::ifstream file(PLANEGATE_TEST_DATA "/" + name, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  std::vector<T> values(chars.size() / sizeof(T));
  std::memcpy(values.data(), chars.data(), values.size() * sizeof(T));
  return values;
}

/// Whether any 16 neighbouring bytes occur twice.
inline bool repeats_16_bytes(const Bytes& bytes) {
  std::vector<std::array<uint64_t, 2>> windows(bytes.size() - 15);
  for (size_t i = 0; i < windows.size(); ++i) std::memcpy(&windows[i], bytes.data() + i, 16);
  std::sort(windows.begin(), windows.end());
  return std::adjacent_find(windows.begin(), windows.end()) != windows.end();
}

inline int8_t int8_at(const Bytes& bytes, int64_t at) {
  return static_cast<int8_t>(bytes[static_cast<size_t>(at)]);
}
inline uint16_t u16_at(const Bytes& bytes, int64_t at) {
  uint16_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The text of the ContractError that `call` throws; empty where it throws none.
template <class Call>
std::string refusal_of(const Call& call) {
  try {
    call();
  } catch (const ContractError& error) {
    return error.what();
  }
  return "";
}

/// The mirror throws a ContractError that says `text`, and leaves the plane as it was.
template <class Tag>
void expect_refused_untouched(const RawTensor& raw, size_t plane_bytes, const char* text) {
  Bytes plane(plane_bytes, std::byte{0xA5});
  const auto& mirror = oracle_catalog().mirror(describe<Tag>());
  EXPECT_THAT(refusal_of([&] { mirror.write(raw, plane); }), testing::HasSubstr(text));
  EXPECT_EQ(plane, Bytes(plane_bytes, std::byte{0xA5}));
}

}  // namespace planegate
