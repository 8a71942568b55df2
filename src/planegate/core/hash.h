#pragma once

#include <cstdint>
#include <string_view>

namespace planegate {

/// 64-bit FNV-1a of a text: names and contracts, not contents.
constexpr uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

/// The splitmix64 finaliser: every bit of the input reaches every bit of the output.
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A payload value: hash of a seed and up to three coordinates.
constexpr uint64_t payload(uint64_t seed, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  return mix(mix(mix(mix(seed) ^ a) ^ b) ^ c);
}

}  // namespace planegate
